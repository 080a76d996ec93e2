import Foundation
import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@Suite("Notifications by e-mail", .timeLimit(.minutes(2)))
struct MailTests {
    private let bench: SinkBench

    init() throws { bench = try SinkBench() }

    /// A mail server that takes everything but what `refusal` answers.
    private func server(_ refusal: @escaping @Sendable (String) -> String? = { _ in nil }) throws -> LineServer {
        try LineServer(greeting: "220 test ESMTP") { line, seen in
            if let answer = refusal(line) { return .line(answer) }
            let isInData = seen.last(where: { $0 == "DATA" || $0 == "." }) == "DATA"
            if isInData { return line == "." ? .line("250 taken") : .nothing }
            switch line.prefix(4) {
            case "EHLO": return .line("250-test\r\n250 8BITMIME")
            case "DATA": return .line("354 go on")
            case "QUIT": return .line("221 bye")
            default: return .line("250 ok")
            }
        }
    }

    private static func entry(
        _ port: UInt16, from: String = "Jobs <jobs@example.com>", to: String = #""me@example.com""#
    ) -> String {
        #""email": { "smtp": "smtp://127.0.0.1:\#(port)", "from": \#(JSON.string(from).text), "to": \#(to) }"#
    }

    @Test("a mail server gets the message whole, with an id by which a repetition is known")
    func sends() async throws {
        let server = try server()
        defer { server.stop() }
        let failure = try await bench.deliver(
            Self.entry(server.port, to: #"["me@example.com", "You <you@example.com>"]"#))
        #expect(failure == nil)
        let lines = server.lines
        #expect(lines.contains("MAIL FROM:<jobs@example.com>") || lines.contains { $0.hasPrefix("MAIL FROM:<jobs@") })
        #expect(lines.contains("RCPT TO:<me@example.com>"))
        #expect(lines.contains("RCPT TO:<you@example.com>"))
        #expect(lines.contains("From: Jobs <jobs@example.com>"))
        #expect(lines.contains("To: me@example.com, You <you@example.com>"))
        #expect(lines.contains("Message-ID: <\(SinkBench.notification.id)@example.com>"))
        #expect(lines.contains("Date: Fri, 15 Jan 2027 08:00:00 +0000"))
        #expect(lines.contains("Subject: =?utf-8?B?\(Data("selfie »fertig«".utf8).base64EncodedString())?="))
        let start = try #require(lines.lastIndex(of: "")) + 1
        let end = try #require(lines.lastIndex(of: "."))
        let body = try #require(Data(base64Encoded: lines[start..<end].joined()))
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.hasPrefix("selfie »fertig«\n"))
        #expect(text.contains(SinkBench.notification.json.prettyText()))
    }

    @Test(
        "a name is left as it is if it is plain words, else quoted, or encoded where it has other letters than ASCII's",
        arguments: [
            ("Jobs at Night <a@b.c>", ["From: Jobs at Night <a@b.c>"]), ("<a@b.c>", ["From: a@b.c"]),
            ("=?utf-8?Q?J=C3=BCrgen?= <a@b.c>", ["From: =?utf-8?Q?J=C3=BCrgen?= <a@b.c>"]),
            ("Doe, Jane <a@b.c>", [#"From: "Doe, Jane" <a@b.c>"#]),
            (#""Doe, Jane" <a@b.c>"#, [#"From: "Doe, Jane" <a@b.c>"#]),
            (#"J. "Jo" Doe <a@b.c>"#, [#"From: "J. \"Jo\" Doe" <a@b.c>"#]),
            (#""J. \"Jo\" Doe" <a@b.c>"#, [#"From: "J. \"Jo\" Doe" <a@b.c>"#]),
            ("Jürgen Müller <a@b.c>", ["From: =?utf-8?B?SsO8cmdlbiBNw7xsbGVy?=", " <a@b.c>"]),
            (#""Müller, Jürgen" <a@b.c>"#, ["From: =?utf-8?B?TcO8bGxlciwgSsO8cmdlbg==?=", " <a@b.c>"]),
        ])
    func names(sender: String, header: [String]) async throws {
        let server = try server()
        defer { server.stop() }
        #expect(try await bench.deliver(Self.entry(server.port, from: sender)) == nil)
        let start = try #require(server.lines.firstIndex { $0.hasPrefix("From: ") })
        #expect(Array(server.lines[start...].prefix(header.count)) == header)
        #expect(server.lines[start + header.count] == "To: me@example.com")
    }

    @Test("a domain with other letters than ASCII's stands in the header as in the envelope")
    func domain() async throws {
        let server = try server()
        defer { server.stop() }
        let entry = Self.entry(server.port, from: "Jobs <jobs@exämple.org>", to: #""me@exämple.org""#)
        #expect(try await bench.deliver(entry) == nil)
        #expect(server.lines.contains("RCPT TO:<me@xn--exmple-cua.org>"))
        #expect(server.lines.contains("From: Jobs <jobs@xn--exmple-cua.org>"))
        #expect(server.lines.contains("To: me@xn--exmple-cua.org"))
        #expect(server.lines.contains("Message-ID: <\(SinkBench.notification.id)@xn--exmple-cua.org>"))
    }

    @Test(
        "a refusal for good is not tried again, one for now is",
        arguments: [("550 no such box", false), ("451 busy", true)])
    func refused(answer: String, isRetryable: Bool) async throws {
        let server = try server { $0.hasPrefix("RCPT") ? answer : nil }
        defer { server.stop() }
        let failure = try #require(try await bench.deliver(Self.entry(server.port)))
        #expect(failure.message.contains("the mail server answered \(answer.prefix(3))"))
        #expect(failure.isRetryable == isRetryable)
    }

    @Test("who is taken gets the mail, and who is refused is named; it is not sent again to those who have it")
    func refusedInPart() async throws {
        let refusals = [
            "RCPT TO:<gone@example.com>": "550-no\r\n550 such box", "RCPT TO:<full@example.com>": "452 full",
        ]
        let server = try server { refusals[$0] }
        defer { server.stop() }
        let failure = try #require(
            try await bench.deliver(
                Self.entry(
                    server.port,
                    to: #"["gone@example.com", "me@example.com", "Full <full@example.com>", "you@example.com"]"#)))
        #expect(server.lines.contains("."), "the mail was not sent")
        #expect(failure.message.contains("refused 'gone@example.com' (550), 'full@example.com' (452); the other"))
        #expect(!failure.isRetryable)
    }

    @Test("no server is worth another try; what is no address is told at once, and a header can't be smuggled in")
    func unreachable() async throws {
        let port = try LoopbackServer.unusedPort()
        let gone = try await bench.deliver(Self.entry(port))
        #expect(gone?.isRetryable == true)
        let broken = try await bench.deliver(
            #""email": { "smtp": "smtp://127.0.0.1:\#(port)", "from": "a@b", "to": "x@y\r\nBcc: z@y" }"#)
        #expect(broken?.isRetryable == false)
        #expect(broken?.message.contains("is no mail address") == true)
    }

    @Test("a password goes to another machine only over an encrypted connection")
    func encrypted() async throws {
        let server = try server()
        defer { server.stop() }
        // 127.0.0.2 is this machine too, and not known as such.
        let failure = try #require(
            try await bench.deliver(
                #""email": { "smtp": "smtp://user:hunter22@127.0.0.2:\#(server.port)", "from": "a@b.c", "to": "x@y.z" }"#
            ))
        #expect(!server.lines.contains { $0.hasPrefix("AUTH") })
        #expect(!failure.message.contains("hunter22"))
    }

    @Test("a server that offers encryption has its own certificate: a mail without a password goes there all the same")
    func ownCertificate() async throws {
        let server = try await SecureMailServer(host: "127.0.0.1")
        defer { server.stop() }
        #expect(try await bench.deliver(Self.entry(UInt16(server.port))) == nil)
        #expect(await server.takesOverTLS)
    }

    @Test("a password goes to another machine only if its certificate is right")
    func wrongCertificate() async throws {
        let server = try await SecureMailServer(host: "127.0.0.2")
        defer { server.stop() }
        let failure = try #require(
            try await bench.deliver(
                #""email": { "smtp": "smtp://user:hunter22@127.0.0.2:\#(server.port)", "from": "a@b.c", "to": "x@y.z" }"#
            ))
        #expect(failure.message.contains("certificate"))
    }
}
