import Foundation
import JSONPath
import PipelineTestKit
import SelfieStudio
import Testing

@Suite("Jobs in the background")
struct BackgroundTests {
    @Test("'run --detach' prints the job's id alone, and the job ends without it")
    func detaches() async throws {
        try await withBackground { workplace, service, background in
            let end = try await workplace.runSelfie(service, "--detach")
            #expect(end.cause == .exited(0) && end.errors.isEmpty, "\(end)")
            let id = try #require(end.lines.first)
            #expect(end.lines.count == 1 && id.count == 26)
            let job = try await workplace.waitFor(["succeeded", "failed"], of: id)
            #expect(job["state"] == "succeeded", "\(job.text)")
            let isSame = workplace.bytes(workplace.output + "/selfie.obj") == (try await UninterruptedRun.mesh)
            #expect(isSame)
            #expect(background.processes.count == 1 && background.isRunning)
        }
    }

    @Test("what was just handed over is watched to its end, not taken for suspended")
    func watched() async throws {
        try await withBackground { workplace, _, _ in
            let file = try workplace.write(
                "write.json",
                """
                { "pipeline": 1, "name": "w", "stages": [ { "id": "w", "kind": "write", "to": "x.txt", "text": "hello" } ] }
                """)
            for _ in 1...5 {
                let id = try #require(
                    try await workplace.run("run", file, "--detach", "--overwrite", "--output", workplace.output)
                        .lines.first)
                let watch = try await workplace.run("watch", id)
                #expect(watch.cause == .exited(0) && watch.lines == [workplace.output + "/x.txt"], "\(watch)")
            }
        }
    }

    /// It ended with 0, whatever became of them.
    @Test("several that are watched end with the status of the worst")
    func watchedTogether() async throws {
        let goOn = Gate()
        let server = try LoopbackServer { request in
            .init([.wait(goOn), .head(request.path == "/bad" ? 422 : 200, [("Content-Length", "0")])])
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            var runs: [RunningProgram] = []
            for path in ["good", "bad"] {
                let file = try workplace.write(
                    "\(path).json",
                    """
                    { "pipeline": 1, "name": "w", "services": { "s": { "url": "\(server.url)" } },
                      "stages": [ { "id": "a", "kind": "request", "service": "s", "request": { "GET": "/\(path)" } } ] }
                    """)
                runs.append(try workplace.start("run", file))
            }
            for run in runs { #expect(await run.hasWritten("a: started")) }
            let watch = try workplace.start("watch", "--json")
            #expect(await watch.hasWritten("job.started"))
            goOn.open()
            #expect(await watch.end.cause == .exited(1))
            for run in runs { _ = await run.end }
        }
    }

    /// It was once asked a single time, at which it did not listen yet: six commands at once warned that no owner started.
    @Test("an owner that was first and does not listen yet is waited for")
    func waitsForOther() async throws {
        try await withBackground { workplace, _, _ in
            let file = try workplace.write(
                "write.json",
                """
                { "pipeline": 1, "name": "w", "stages": [ { "id": "w", "kind": "write", "to": "x.txt", "text": "hello" } ] }
                """)
            for folder in [workplace.state, workplace.state + "/owners"] {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            let watch = try FolderWatch(workplace.state)
            let other = open(workplace.state + "/owners/daemon.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            var lock = flock()
            lock.l_type = Int16(F_WRLCK)
            // F_OFD_SETLK of fcntl(2).
            #expect(withUnsafeMutablePointer(to: &lock) { fcntl(other, 37, $0) } == 0)
            let command = try workplace.start("run", file, "--detach", "--key", "w", "--output", workplace.output)
            let log = workplace.state + "/daemon.log"
            let lost = "another process owns jobs under the name daemon"
            #expect(
                await watch.until { String(decoding: workplace.bytes(log) ?? [], as: UTF8.self).contains(lost) })
            close(other)
            let end = await command.end
            #expect(end.cause == .exited(0) && end.errors.isEmpty, "\(end)")
            _ = try await workplace.waitFor(["succeeded"], of: "w")
        }
    }

    @Test("commands that come at once start one owner, and each job ends")
    func startsOne() async throws {
        try await withBackground { workplace, _, background in
            let file = try workplace.write(
                "write.json",
                """
                { "pipeline": 1, "name": "w", "stages": [
                  { "id": "pause", "kind": "wait", "for": "3s" },
                  { "id": "w", "kind": "write", "to": "${{ job.key }}.txt", "text": "hello" } ] }
                """)
            let programs = try (1...6).map { number in
                try workplace.start("run", file, "--detach", "--output", workplace.output, "--key", "job-\(number)")
            }
            for program in programs { #expect(await program.end.cause == .exited(0)) }
            for number in 1...6 { _ = try await workplace.waitFor(["succeeded"], of: "job-\(number)") }
            #expect(background.processes.count == 1)
            #expect(workplace.files(below: workplace.output).count == 6)
            let second = try await workplace.run("daemon")
            #expect(second.cause == .exited(1), "\(second)")
            #expect(second.errors.contains("another process owns jobs under the name daemon"))
        }
    }

    /// It was kept until the first had failed, and the service was asked, and paid, once more.
    @Test("a job that is tried again is not tried a third time by a second word for the same")
    func retriedOnce() async throws {
        let gate = Gate()
        let server = try LoopbackServer { request in
            let end = ScriptedAnswer.Step.send(422, [], Array("no credit".utf8))
            return ScriptedAnswer(request.number == 1 ? [end] : [.wait(gate), end])
        }
        defer { server.stop() }
        try await withBackground { workplace, _, _ in
            let file = try workplace.write(
                "pay.json",
                #"""
                { "pipeline": 1, "name": "pay", "services": { "s": { "url": "\#(server.url)" } },
                  "stages": [ { "id": "order", "kind": "request", "service": "s", "request": { "POST": "/orders" },
                                "capture": { "id": "$.id" } } ] }
                """#)
            #expect(try await workplace.run("run", file, "--key", "pay").cause == .exited(1))
            let both = try (1...2).map { _ in try workplace.start("retry", "pay", "--detach") }
            for program in both { _ = await program.end }
            _ = await server.requests(atLeast: 2)
            let late = try await workplace.run("retry", "pay", "--detach")
            #expect(late.cause != .exited(0) && late.errors.contains("running in another process"), "\(late)")
            gate.open()
            _ = try await workplace.waitFor(["failed"], of: "pay")
            // What was kept for later began in the same milliseconds: before another job that is handed over now.
            let other = try workplace.write(
                "other.json",
                #"{ "pipeline": 1, "name": "o", "stages": [ { "id": "w", "kind": "write", "to": "o.txt", "text": "o" } ] }"#
            )
            _ = try await workplace.run("run", other, "--detach", "--key", "other", "--output", workplace.output)
            _ = try await workplace.waitFor(["succeeded"], of: "other")
            #expect(server.requests.count == 2)
        }
    }

    @Test("cancel and pause reach a job that waits in the background")
    func isReached() async throws {
        try await withBackground({ $0.seconds = 60 }) { workplace, service, _ in
            let end = try await workplace.runSelfie(service, document: Self.slow(), "--detach")
            let id = try #require(end.lines.first)
            await service.counts { $0.modelsSubmitted == 1 }
            _ = try await workplace.waitFor(["waiting"], of: id)
            let pause = try await workplace.run("pause", id)
            #expect(pause.errors.contains("its process was told to pause"), "\(pause)")
            let paused = try await workplace.waitFor(["suspended"], of: id)
            #expect(paused["cause"] == "paused")
            _ = try await workplace.run("resume", id, "--detach", environment: service.environment)
            _ = try await workplace.waitFor(["waiting"], of: id)
            // The next poll, which would find it too, is an hour away.
            let cancel = try await workplace.run("cancel", id, environment: service.environment)
            #expect(cancel.errors.contains("its process was told to cancel"), "\(cancel)")
            _ = try await workplace.waitFor(["cancelled"], of: id)
            #expect(service.counters.modelsSubmitted == 1)
        }
    }

    @Test("SIGTERM ends the owner before its job, kill -9 at once; the next one goes on, and submits nothing twice")
    func goesOn() async throws {
        for signal in [SIGTERM, SIGKILL] {
            try await withBackground({ $0.seconds = 2 }) { workplace, service, background in
                let end = try await workplace.runSelfie(service, "--detach")
                let id = try #require(end.lines.first)
                await service.counts { $0.modelsSubmitted == 1 }
                try await background.end(by: signal)
                let left = try await workplace.show(id)
                #expect(left["state"] == "suspended")
                #expect(left["cause"] == (signal == SIGTERM ? "interrupted" : "crashed"), "\(left.text)")
                let daemon = try workplace.start("daemon")
                #expect(await daemon.hasWritten("ready"))
                let job = try await workplace.waitFor(["succeeded", "failed"], of: id)
                #expect(job["state"] == "succeeded" && service.counters.modelsSubmitted == 1, "\(job.text)")
                daemon.signal(SIGTERM)
                #expect(await daemon.end.cause == .exited(0))
                try await workplace.checkEvents(id)
            }
        }
    }

    @Test("a job that its person interrupted or paused is left alone by the owner")
    func leavesAlone() async throws {
        try await withBackground({ $0.seconds = 30 }) { workplace, service, background in
            let owner = try workplace.startSelfie(service, document: Self.slow(), ["--background"])
            await service.counts { $0.modelsSubmitted == 1 }
            owner.signal(SIGINT)
            #expect(await owner.end.cause == .exited(75))
            let daemon = try workplace.start("daemon")
            #expect(await daemon.hasWritten("ready"))
            let file = try workplace.write(
                "other.json",
                #"{ "pipeline": 1, "name": "o", "stages": [ { "id": "w", "kind": "write", "to": "o.txt", "text": "o" } ] }"#
            )
            _ = try await workplace.run("run", file, "--detach", "--key", "other", "--output", workplace.output)
            _ = try await workplace.waitFor(["succeeded"], of: "other")
            let jobs = try await workplace.run("list", "--json")
            #expect(jobs.output.contains("interrupted"), "\(jobs)")
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
        }
    }

    @Test("the owner has the secrets that were handed over, in memory only; without one it says how to give it")
    func secrets() async throws {
        try await withBackground { workplace, _, background in
            let file = try workplace.write(
                "secret.json",
                """
                { "pipeline": 1, "name": "s", "stages": [
                  { "id": "pause", "kind": "wait", "for": "1h" },
                  { "id": "w", "kind": "write", "to": "s.txt", "text": "${{ sha256(secrets.WORD) }}" } ] }
                """)
            let word = "V3ryS3cret-4711"
            let given = ["PIPELINE_SECRET_WORD": word]
            let end = try await workplace.run("run", file, "--detach", "--key", "s", environment: given)
            #expect(end.cause == .exited(0), "\(end)")
            _ = try await workplace.waitFor(["waiting"], of: "s")
            let process = try #require(background.processes.last)
            let environment = workplace.bytes("/proc/\(process)/environ") ?? []
            #expect(!String(decoding: environment, as: UTF8.self).contains(word))
            try await background.end(by: SIGKILL)
            let daemon = try workplace.start("daemon")
            #expect(await daemon.hasWritten("waits: the secret WORD is not set; give it with 'pipeline resume"))
            let job = try await workplace.waitFor(["suspended"], of: "s")
            #expect(job["cause"] == "secret", "\(job.text)")
            let why = try await workplace.run("why", "s")
            #expect(why.output.contains("pipeline resume") && why.output.contains("--detach"), "\(why)")
            _ = try await workplace.run("resume", "s", "--detach", environment: given)
            _ = try await workplace.waitFor(["waiting"], of: "s")
            for name in workplace.files(below: workplace.state) {
                let text = String(decoding: workplace.bytes("\(workplace.state)/\(name)") ?? [], as: UTF8.self)
                #expect(!text.contains(word), "\(name)")
            }
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
        }
    }

    @Test("a secret behind '??' that was handed over is missed after a kill -9, and what begins again has it")
    func optionalSecret() async throws {
        try await withWorkplace { workplace in
            try await withService(
                in: workplace,
                {
                    $0.token = Self.token
                    $0.minimumSeconds = 3
                }
            ) { service in
                let background = BackgroundProcess(workplace: workplace)
                do {
                    try await losesSecret(workplace, service, background)
                } catch {
                    await background.remove()
                    throw error
                }
                await background.remove()
            }
        }
    }

    private static let token = "t0ken-4711"

    private func losesSecret(
        _ workplace: Workplace, _ service: Service, _ background: BackgroundProcess
    ) async throws {
        let given = ["PIPELINE_SECRET_SELFIE_TOKEN": Self.token]
        let begun = try await workplace.runSelfie(service, environment: given, "--detach")
        let id = try #require(begun.lines.first, "\(begun)")
        await service.counts { $0.modelsSubmitted == 1 }
        try await background.end(by: SIGKILL)
        let daemon = try workplace.start("daemon", environment: service.environment)
        #expect(await daemon.hasWritten("waits: the secret SELFIE_TOKEN is not set; give it with 'pipeline resume"))
        let job = try await workplace.show(id)
        #expect(job["state"] == "suspended" && job["cause"] == "secret", "\(job.text)")
        let why = try await workplace.run("why", id)
        #expect(
            why.output.contains("the secret SELFIE_TOKEN is not set; set PIPELINE_SECRET_SELFIE_TOKEN, or give a file")
                && why.output.contains("pipeline resume \(id) --detach"), "\(why)")
        let refused = try await workplace.run("resume", id, "--detach", environment: service.environment)
        #expect(refused.cause == .exited(2), "\(refused)")
        let attended = try await workplace.run("resume", id, environment: service.environment)
        #expect(attended.cause == .exited(75), "\(attended)")
        for end in [refused, attended] { #expect(end.errors.contains("the secret SELFIE_TOKEN is not set"), "\(end)") }
        let resumed = try await workplace.run(
            "resume", id, "--detach", environment: service.environment.merging(given) { $1 })
        #expect(resumed.cause == .exited(0), "\(resumed)")
        let watch = try await workplace.run("watch", id)
        #expect(watch.cause == .exited(0), "\(watch)")
        #expect(service.counters.modelsSubmitted == 1)
        daemon.signal(SIGTERM)
        #expect(await daemon.end.cause == .exited(0))
    }

    @Test("why prints the ledger, and each policy that holds a discretionary stage back")
    func why() async throws {
        try await withBackground { workplace, _, background in
            let file = try workplace.write(
                "patient.json",
                #"""
                { "pipeline": 1, "name": "patient",
                  "background": { "budget": { "resumes": 30, "per": "1h" } }, "stages": [
                  { "id": "late", "kind": "request", "request": { "GET": "http://127.0.0.1:9/" }, "discretionary": true } ] }
                """#)
            let metered = ["PIPELINE_METERED": "yes"]
            let end = try await workplace.run("run", file, "--detach", environment: metered)
            #expect(end.cause == .exited(0), "\(end)")
            try await workplace.waitForEvent("resume.deferred")
            let why = try await workplace.run("why", "last", environment: metered)
            #expect(why.output.contains("in the background: 0 of 30 resumes in 1h"), "\(why)")
            #expect(why.output.contains("late: it waits for a good moment"), "\(why)")
            #expect(
                why.output.contains("network: weight 2.0, score 0.0, mustNotProceed: the network is metered"), "\(why)")
            #expect(why.output.contains("sum: ") && why.output.contains("asked again at: "), "\(why)")
            let json = try JSON.parse(
                Array(try await workplace.run("why", "last", "--json", environment: metered).output.utf8))
            let step = json["background"]?["steps"]?.array?.first
            #expect(json["background"]?["ledger"]?["pipeline"] == "patient", "\(json.text)")
            #expect(step?["stage"] == "late" && step?["moment"]?["proceeds"] == false, "\(json.text)")
            #expect(step?["deferred"]?["reason"] == "the network is metered", "\(json.text)")
            #expect(step?["moment"]?["policies"]?.array?.count == 6, "\(json.text)")
            #expect(step?["moment"]?["askAgain"] == step?["deferred"]?["until"], "\(json.text)")
            try await background.end(by: SIGTERM)
        }
    }

    @Test("why says of a stage that the resume budget keeps from beginning until when it does")
    func whyHeldBack() async throws {
        let server = try LoopbackServer { _ in .status(200, body: "x") }
        defer { server.stop() }
        try await withBackground { workplace, _, background in
            let file = try workplace.write(
                "held.json",
                """
                { "pipeline": 1, "name": "held",
                  "background": { "budget": { "resumes": 0, "per": "2h", "base": "1h", "factor": 2, "max": "1h" } },
                  "stages": [
                  { "id": "get", "kind": "download", "request": { "GET": "\(server.url)/x" }, "to": "x.txt" },
                  { "id": "after", "kind": "write", "needs": ["get"], "to": "y.txt", "text": "y" },
                  { "id": "last", "kind": "write", "needs": ["after"], "to": "z.txt", "text": "z" } ] }
                """)
            let end = try await workplace.run("run", file, "--detach", "--output", workplace.output)
            #expect(end.cause == .exited(0), "\(end)")
            try await workplace.waitForEvent("resume.deferred")
            let why = try await workplace.run("why", "last")
            #expect(
                why.output.contains("after: it is held back: the budget has no free resumes\n  goes on in "), "\(why)")
            #expect(why.output.contains("last: it needs after"), "\(why)")
            try await background.end(by: SIGTERM)
        }
    }

    /// It said that the batch was running, and nothing of the hour that it would do nothing.
    @Test("why says of a batch that the resume budget holds its items back, and what lets them go")
    func whyBatchHeldBack() async throws {
        let server = try LoopbackServer { _ in .status(200, body: "x") }
        defer { server.stop() }
        try await withBackground { workplace, _, background in
            let file = try workplace.write(
                "held.json",
                """
                { "pipeline": 1, "name": "held", "inputs": { "n": { "type": "string" } },
                  "batch": { "key": "${{ inputs.n }}" },
                  "background": { "budget": { "resumes": 0, "per": "2h", "base": "1h", "factor": 2, "max": "1h" } },
                  "stages": [
                  { "id": "get", "kind": "request", "request": { "GET": "\(server.url)/x" } },
                  { "id": "w", "kind": "write", "needs": ["get"], "to": "${{ inputs.n }}.txt", "text": "x" } ] }
                """)
            let rows = try workplace.write("rows.csv", "n\na\nb\n")
            let end = try await workplace.run(
                "run", file, "--each", rows, "--batch", "held", "--detach", "--output", workplace.output)
            #expect(end.cause == .exited(0), "\(end)")
            for item in ["a", "b"] { try await workplace.waitForEvent("resume.deferred", of: "held/\(item)") }
            let why = try await workplace.run("why", "held")
            #expect(
                why.output.contains("2 are held back: the budget has no free resumes, the first until ")
                    && why.output.contains("'pipeline watch held' on a terminal lets them go on at once"), "\(why)")
            let json = try JSON.parse(try await workplace.run("why", "held", "--json").output)
            OutputSchemaTests.check(json, try OutputSchemaTests.schema("batch-why"))
            #expect(json["waits"]?.array?.first?["reason"] == "heldBack", "\(json.text)")
            try await background.end(by: SIGTERM)
        }
    }

    @Test("a service manager is told when the owner is ready and when it stops")
    func tellsManager() async throws {
        try await withWorkplace { workplace in
            let path = workplace.path("notify.sock")
            let socket = try DatagramSocket(path: path)
            let daemon = try workplace.start("daemon", environment: ["NOTIFY_SOCKET": path])
            #expect(socket.receive()?.hasPrefix("READY=1") == true)
            daemon.signal(SIGTERM)
            #expect(socket.receive()?.hasPrefix("STOPPING=1") == true)
            #expect(await daemon.end.cause == .exited(0))
            #expect(!FileManager.default.fileExists(atPath: workplace.state + "/control.sock"))
        }
    }

    /// The shipped pipeline, asking so seldom that only a wake-up from outside can be quick.
    private static func slow() throws -> String {
        let text = try String(contentsOfFile: Documents.selfie, encoding: .utf8)
        return text.replacingOccurrences(of: #""poll": { "GET""#, with: #""poll": { "every": "1h", "GET""#)
    }
}

/// A datagram socket by a name, that waits for what comes.
private final class DatagramSocket: Sendable {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(code == 0)
    }

    deinit { close(descriptor) }

    func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
