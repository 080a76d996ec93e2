import Foundation
import JSONPath
import PipelineCore
import PipelineServer
import PipelineTestKit
import Testing

@testable import PipelineDashboard

/// Whoever should not see or change anything, with the bytes that they would send.
@Suite("Safety of the pages", .serialized, .timeLimit(.minutes(3)))
struct SafetyTests {
    private func withWorld(
        actions: (any JobActions)? = nil, tokenFile: String? = nil, basePath: String = "", allowedHosts: [String] = [],
        _ body: (DashboardWorld) async throws -> Void
    ) async throws {
        let world = try await DashboardWorld(
            actions: actions, tokenFile: tokenFile, basePath: basePath, allowedHosts: allowedHosts)
        do { try await body(world) } catch {
            await world.close()
            throw error
        }
        await world.close()
    }

    @Test("a page of another name that leads here (DNS rebinding) is told 421, with a cookie too")
    func rebinding() async throws {
        try await withWorld { world in
            let cookie = try await world.signIn()
            for host in [
                "evil.example:\(world.service.port)", "evil.localhost:\(world.service.port)", "localhost.evil.example",
                "127.0.0.1:1", "\(world.host.prefix { $0 != ":" })", "\(world.host).", "127.0.0.1",
            ] {
                let answer = try await world.send(
                    "GET / HTTP/1.1\r\nHost: \(host)\r\nOrigin: http://\(host)\r\nSec-Fetch-Site: same-origin\r\n"
                        + "Cookie: \(cookie)\r\nConnection: close\r\n\r\n")
                #expect(answer.status == 421, "\(host): \(answer.text.prefix(200))")
            }
            let none = try await world.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
            let two = try await world.send(
                "GET / HTTP/1.1\r\nHost: \(world.host)\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
            #expect(none.status == 400 && two.status == 400)
            let absolute = try await world.send(
                "GET http://\(world.host)/ HTTP/1.1\r\nHost: \(world.host)\r\nConnection: close\r\n\r\n")
            #expect(absolute.status == 400)
        }
    }

    @Test("another user of the machine, who has no link, sees nothing and starts no stream")
    func stranger() async throws {
        try await withWorld { world in
            try await world.make(1, key: "my-key")
            for target in ["/", "/changes", "/pipelines", "/services", "/workers", "/metrics", "/jobs/x"] {
                let answer = try await world.get(target)
                #expect(answer.status == 401 && !answer.shows("my-key"), "\(target)")
            }
            let guessed = try await world.get("/", cookie: "pipeline_session=\(String(repeating: "0", count: 64))")
            #expect(guessed.status == 401)
            #expect(try await world.get("/sign-in?key=\(String(repeating: "0", count: 64))").status == 401)
        }
    }

    @Test("a link works once; its cookie is for this host alone, and no script reads it")
    func link() async throws {
        try await withWorld { world in
            let link = world.service.link()
            let target = String(link.dropFirst("http://".count).drop { $0 != "/" })
            let looked = try await world.send(
                "HEAD \(target) HTTP/1.1\r\nHost: \(world.host)\r\nConnection: close\r\n\r\n")
            #expect(looked.status == 405 && looked.value("Set-Cookie") == nil, "who only looks does not use it up")
            let first = try await world.get(target)
            let cookie = try #require(first.value("Set-Cookie"))
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains("Domain"))
            #expect(try await world.get(target).status == 401, "a second time")
            #expect(try await world.get("/", cookie: String(cookie.prefix { $0 != ";" })).status == 200)
            #expect(first.shows("http-equiv=\"refresh\""))
        }
    }

    /// The name was told to everybody who asked like a browser, and with it a page of another user, at another port of
    /// it, was sent the cookie.
    @Test(
        "another user of the machine is not told the name for people, whatever browser it seems to be",
        .enabled(
            if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: setpriv)
                && FileManager.default.isExecutableFile(atPath: curl), "needs root, setpriv and curl"))
    func secretName() async throws {
        try await withWorld { world in
            let name = String(world.host.prefix { $0 != "." })
            for field in ["Accept: text/html", "Sec-Fetch-Mode: navigate"] {
                let request = ["-s", "-i", "-H", field, "http://127.0.0.1:\(world.service.port)/jobs/a"]
                let refused = try await BuiltProgram(path: Self.setpriv).run(
                    ["--reuid=65534", "--regid=65534", "--clear-groups", Self.curl] + request, folder: "/")
                #expect(refused.output.hasPrefix("HTTP/1.1 401 "), "\(refused)")
                #expect(refused.output.contains("pipeline dashboard") && !refused.output.contains(name), "\(refused)")
                let sent = try await BuiltProgram(path: Self.curl).run(request, folder: "/")
                #expect(sent.output.hasPrefix("HTTP/1.1 307 ") && sent.output.contains(name), "\(sent)")
            }
        }
    }

    private static let setpriv = "/usr/bin/setpriv"
    private static let curl = "/usr/bin/curl"

    @Test("whose connection the kernel does not say is not told the name for people")
    func unknownUser() {
        let guardian = RequestGuard(
            name: "pipeline-0123", port: 8700, boundHost: nil, allowedHosts: [], token: nil)
        for field in [("Accept", "text/html"), ("Sec-Fetch-Mode", "navigate")] {
            let headers: [(name: String, value: String)] = [("Host", "127.0.0.1:8700"), field]
            let unknown = IncomingRequest(method: "GET", target: "/", headers: headers)
            let refusal = RequestGuard.Verdict.refuse(
                status: 401, reason: "these pages are opened by a link: type 'pipeline dashboard' in a terminal")
            #expect(guardian.verdict(on: unknown) == refusal)
            let own = IncomingRequest(method: "GET", target: "/", headers: headers, isOfOwnUser: { true })
            #expect(guardian.verdict(on: own) == .sendOn(to: "http://pipeline-0123.localhost:8700"))
        }
    }

    @Test("addresses that every site's cookies are shared with serve programs alone, and send our own browser on")
    func programs() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)")
        try Data("0123456789abcdef0123456789abcdef\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withWorld(tokenFile: file.path) { world in
            let cookie = try await world.signIn()
            for host in ["127.0.0.1", "localhost", "[::1]"].map({ "\($0):\(world.service.port)" }) {
                let own = "Host: \(host)\r\nConnection: close\r\n"
                #expect(try await world.send("GET / HTTP/1.1\r\n\(own)Cookie: \(cookie)\r\n\r\n").status == 401)
                let browser = try await world.send(
                    "GET /jobs/a HTTP/1.1\r\n\(own)Accept: text/html\r\nCookie: \(cookie)\r\n\r\n")
                #expect(browser.status == 307 && browser.value("Location") == "http://\(world.host)/jobs/a")
                let right = "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n"
                let shown = try await world.send("GET / HTTP/1.1\r\n\(own)\(right)\r\n")
                #expect(shown.status == 200, "\(host): \(shown.text.prefix(2000))")
                #expect(try await world.send("GET / HTTP/1.1\r\n\(own)Authorization: Bearer no\r\n\r\n").status == 401)
            }
        }
    }

    /// What was asked for, in place of doing it.
    final class Recorder: JobActions, @unchecked Sendable {
        private let lock = NSLock()
        private var list: [String] = []
        var asked: [String] { lock.withLock { list } }
        func perform(_ action: JobAction, on targets: JobActionTargets) async throws(ActionFailure) {
            lock.withLock {
                if !targets.jobs.isEmpty { list.append("\(action.rawValue) \(targets.jobs.count)") }
                if !targets.batches.isEmpty { list.append("\(action.rawValue) batches \(targets.batches.count)") }
            }
        }
    }

    @Test("a form of another site changes nothing; our own does, and so does a program with the token")
    func forms() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)")
        try Data("0123456789abcdef0123456789abcdef".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let recorder = Recorder()
        try await withWorld(actions: recorder, tokenFile: file.path) { world in
            let job = try await world.make(1)
            let cookie = try await world.signIn()
            func post(_ fields: String, host: String = world.host, more: String = "") async throws -> RawResponse {
                let body = "action=cancel&job=\(job)\(more)"
                return try await world.send(
                    "POST /actions HTTP/1.1\r\nHost: \(host)\r\nCookie: \(cookie)\r\n\(fields)Connection: close\r\n"
                        + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
            }
            for fields in [
                "", "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n", "Sec-Fetch-Site: none\r\n",
                "Origin: null\r\n", "Origin: http://evil.example\r\n", "Origin: http://\(world.host).evil.example\r\n",
                "Origin: http://127.0.0.1:\(world.service.port)\r\n", "Origin: https://\(world.host)\r\n",
                "Sec-Fetch-Site: cross-site\r\nOrigin: http://\(world.host)\r\n",
                "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n",
            ] {
                #expect(try await post(fields).status == 403, "\(fields)")
            }
            #expect(recorder.asked.isEmpty)
            #expect(try await post("Sec-Fetch-Site: same-origin\r\n").status == 303)
            #expect(try await post("Origin: http://\(world.host)\r\n").status == 303)
            let bearer = "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n"
            #expect(try await post(bearer, host: "127.0.0.1:\(world.service.port)").status == 303)
            #expect(recorder.asked == ["cancel 1", "cancel 1", "cancel 1"])
            for (back, place) in [
                ("/jobs/1?a=%25C3", "/jobs/1?a=%C3"), ("//evil.example", "/"), ("/%5Cevil.example", "/"),
                ("/%09/evil.example", "/"), ("/a%0D%0AX:%20b", "/"), ("jobs", "/"),
            ] {
                let answer = try await post("Sec-Fetch-Site: same-origin\r\n", more: "&back=\(back)")
                #expect(answer.status == 303 && answer.value("Location") == place, "\(back)")
            }
            #expect(
                try await world.send(
                    "DELETE / HTTP/1.1\r\nHost: \(world.host)\r\nCookie: \(cookie)\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\r\n"
                ).status == 405)
        }
    }

    /// They were taken for no filter, and all jobs were cancelled.
    @Test(
        "all that match a filter that can't be read are none: no row is shown, and nothing is done",
        arguments: ["since=1%20d", "state=suspend", "q=%00", "batch=%00"])
    func unreadableFilter(filter: String) async throws {
        let recorder = Recorder()
        try await withWorld(actions: recorder) { world in
            try await world.make(1, key: "my-key")
            let cookie = try await world.signIn()
            #expect(try await !world.get("/?\(filter)", cookie: cookie).shows("<tr id"))
            let body = "action=cancel&all=1&\(filter)"
            let answer = try await world.send(
                "POST /actions HTTP/1.1\r\nHost: \(world.host)\r\nCookie: \(cookie)\r\nSec-Fetch-Site: same-origin\r\n"
                    + "Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            #expect(answer.status == 400)
            #expect(recorder.asked.isEmpty)
        }
    }

    /// 'Retry' for all that match began again what a person had cancelled, and paid for it again.
    @Test("an action is for the jobs that it fits as they stand, and says so where it fits none")
    func fitting() async throws {
        let recorder = Recorder()
        try await withWorld(actions: recorder) { world in
            try await world.make(1, model: .failed(StepFailure("no credit")), kind: .jobFailed)
            let cancelled = try await world.make(2, model: .cancelled, kind: .jobCancelled)
            let running = try await world.make(3)
            let succeeded = try await world.make(4, model: .succeeded([:]), kind: .jobSucceeded)
            let cookie = try await world.signIn()
            func post(_ body: String, to path: String = "/actions") async throws -> RawResponse {
                try await world.send(
                    "POST \(path) HTTP/1.1\r\nHost: \(world.host)\r\nCookie: \(cookie)\r\nSec-Fetch-Site: same-origin\r\n"
                        + "Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
            #expect(try await world.get("/", cookie: cookie).shows("> all that match</label>"))
            #expect(try await post("action=retry&all=1").status == 303)
            #expect(try await post("action=cancel&all=1").status == 303)
            #expect(recorder.asked == ["retry 1", "cancel 1"])
            for (action, job, said) in [
                ("retry", cancelled, "was cancelled"), ("retry", running, "has not ended"),
                ("retry", succeeded, "has failed"), ("resume", cancelled, "has ended already"),
                ("pause", succeeded, "has ended already"), ("cancel", succeeded, "has ended already"),
            ] {
                let answer = try await post("action=\(action)&job=\(job)")
                #expect(answer.status == 409 && answer.shows(said), "\(action) \(said)")
            }
            #expect(try await post("action=pause&job=\(cancelled)&job=\(succeeded)").shows("the 2 jobs have ended"))
            #expect(try await post("action=cancel&job=01m8nosuchjob").status == 404)
            #expect(recorder.asked.count == 2)
            // The list asks before it cancels many.
            let other = try await world.make(5)
            let button = "formaction=\"/sure\" name=\"action\" value=\"cancel\""
            #expect(try await world.get("/", cookie: cookie).shows(button))
            let question = try await post("action=cancel&all=1&back=/", to: "/sure")
            #expect(question.status == 200 && question.shows("Cancel 2 jobs?") && recorder.asked.count == 2)
            for job in [running, other] { #expect(question.shows("name=\"job\" value=\"\(job)\"")) }
            #expect(!question.shows(succeeded.text))
            #expect(try await post("action=cancel&job=\(running)&job=\(other)&back=/").status == 303)
            #expect(recorder.asked.last == "cancel 2")
        }
    }

    /// Every refusal was answered as a failure of the server.
    @Test(
        "what can't be done as the jobs stand is answered with 409, and what is broken with 500",
        arguments: [(true, 409), (false, 500)])
    func refusal(isRefusal: Bool, status: Int) async throws {
        struct Refuser: JobActions {
            let isRefusal: Bool

            func perform(_ action: JobAction, on targets: JobActionTargets) async throws(ActionFailure) {
                throw ActionFailure(StepFailure("nothing of it has failed"), isRefusal: isRefusal)
            }
        }
        try await withWorld(actions: Refuser(isRefusal: isRefusal)) { world in
            let job = try await world.make(1, model: .failed(StepFailure("no credit")), kind: .jobFailed)
            let cookie = try await world.signIn()
            let body = "action=retry&job=\(job)"
            let answer = try await world.send(
                "POST /actions HTTP/1.1\r\nHost: \(world.host)\r\nCookie: \(cookie)\r\nSec-Fetch-Site: same-origin\r\n"
                    + "Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            #expect(answer.status == status && answer.shows("nothing of it has failed"))
        }
    }

    @Test("without --actions nothing is done, whoever asks, and no page has a button for it")
    func readOnly() async throws {
        try await withWorld { world in
            let job = try await world.make(1)
            let cookie = try await world.signIn()
            let body = "action=cancel&job=\(job)"
            let answer = try await world.send(
                "POST /actions HTTP/1.1\r\nHost: \(world.host)\r\nCookie: \(cookie)\r\nSec-Fetch-Site: same-origin\r\n"
                    + "Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            #expect(answer.status == 403)
            #expect(try await !world.get("/", cookie: cookie).shows("name=\"action\""))
            #expect(try await !world.get("/jobs/\(job)", cookie: cookie).shows("name=\"action\""))
        }
    }

    @Test("every answer forbids what comes from elsewhere, frames and copies; nothing is inline")
    func fields() async throws {
        try await withWorld { world in
            let job = try await world.make(1, model: .failed(StepFailure("no credit")), kind: .jobFailed)
            let cookie = try await world.signIn()
            for target in ["/", "/jobs/\(job)", "/nothing", "/style.css", "/pipelines", "/workers", "/services"] {
                let answer = try await world.get(target, cookie: cookie)
                let policy = answer.value("Content-Security-Policy") ?? ""
                #expect(policy.hasPrefix("default-src 'self'; ") && policy.contains("frame-ancestors 'none'"))
                #expect(answer.value("X-Content-Type-Options") == "nosniff")
                #expect(answer.value("Cache-Control") == "no-store")
                #expect(!answer.shows(" style=") && !answer.shows(" onclick"), "\(target)")
                #expect(!answer.shows("http://") || !answer.shows("src=\"http"), "\(target)")
            }
        }
    }

    @Test("behind a proxy: the path before all links, the name that it was allowed, and no other")
    func proxy() async throws {
        try await withWorld(basePath: "/tools/p", allowedHosts: ["jobs.example.com"]) { world in
            let link = world.service.link()
            #expect(link.hasPrefix("https://jobs.example.com/tools/p/sign-in?key="))
            let target = String(link.dropFirst("https://jobs.example.com".count))
            let own = "Host: jobs.example.com\r\nConnection: close\r\n"
            let signed = try await world.send("GET \(target) HTTP/1.1\r\n\(own)\r\n")
            let cookie = try #require(signed.value("Set-Cookie"))
            #expect(cookie.contains("Path=/tools/p/"))
            let page = try await world.send(
                "GET /tools/p/ HTTP/1.1\r\n\(own)Cookie: \(cookie.prefix { $0 != ";" })\r\n\r\n")
            #expect(page.status == 200 && page.shows("href=\"/tools/p/style.css\""))
            #expect(!page.shows("href=\"/style.css\"") && !page.shows("href=\"/pipelines\""))
            // A person who was signed in was asked to sign in: the cookie is not sent there.
            let bare = try await world.send("GET /tools/p?state=failed HTTP/1.1\r\n\(own)\r\n")
            #expect(bare.status == 307 && bare.value("Location") == "/tools/p/?state=failed")
            #expect(try await world.send("GET / HTTP/1.1\r\n\(own)\r\n").status == 404)
        }
    }

    @Test("a base path or a token that can't be right is refused with what to write")
    func options() throws {
        #expect(throws: StepFailure.self) { try DashboardOptions(basePath: "tools") }
        #expect(throws: StepFailure.self) { try DashboardOptions(basePath: "/a\" onload=\"x") }
        #expect(throws: StepFailure.self) { try DashboardOptions(tokenFile: "/dev/null") }
    }
}
