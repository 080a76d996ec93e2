import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// The built program and its notifications, over a real network.
@Suite("Notifications of the built program", .timeLimit(.minutes(3)))
struct NotificationTests {
    private static func document(_ notify: String) -> String {
        """
        { "pipeline": 1, "name": "told", "notify": [ \(notify) ],
          "stages": [ { "id": "a", "kind": "write", "to": "x.txt", "text": "done" } ] }
        """
    }

    /// A document whose end is told by a webhook that is signed.
    private static func signed(_ url: String) -> String {
        document(#"{ "on": ["succeeded"], "webhook": { "POST": "\#(url)", "sign": "${{ secrets.HOOK }}" } }"#)
    }

    private static let secret = ["PIPELINE_SECRET_HOOK": "hunter22-hunter22"]

    @Test("run tells at the end, by all that it was given, and journals each once")
    func run() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { _ in .status(204) }
            defer { server.stop() }
            let seen = workplace.path("seen.json")
            let file = try workplace.write(
                "told.json",
                Self.document(
                    #"""
                    { "on": ["started", "succeeded"],
                      "webhook": { "POST": "\#(server.url)/hook", "sign": "${{ secrets.HOOK }}",
                                   "with": [ { "bearer": "${{ secrets.HOOK }}" } ] } },
                    { "on": ["succeeded"], "command": [ "/bin/sh", "-c", "cat > \#(seen)" ] }
                    """#))
            let end = try await workplace.run("run", file, environment: Self.secret)
            #expect(end.cause == .exited(0), "\(end)")
            let requests = server.requests
            let told = try requests.map { try JSON.parse($0.body)["on"]?.string ?? "" }
            #expect(told.sorted() == ["started", "succeeded"])
            #expect(requests.allSatisfy { $0.header("webhook-signature")?.hasPrefix("v1,") == true })
            #expect(requests.allSatisfy { $0.header("Authorization") == "Bearer hunter22-hunter22" })
            let text = try String(contentsOfFile: seen, encoding: .utf8)
            let notification = try JSON.parse(Array(text.utf8))
            #expect(notification["on"] == "succeeded")
            #expect(notification["data"]?["files"]?.array?.first?["path"]?.string?.hasSuffix("x.txt") == true)
            let logs = try await workplace.run("logs", "last", "--json")
            let sent = logs.output.split(separator: "\n").filter { $0.contains("notification.sent") }
            #expect(sent.count == 3, "\(logs.output)")
            #expect(!logs.output.contains("hunter22"))
        }
    }

    @Test("a program is a sink too, and gets its configuration")
    func programSink() async throws {
        try await withWorkplace { workplace in
            let plugins = workplace.path("plugins")
            try FileManager.default.createDirectory(atPath: plugins, withIntermediateDirectories: true)
            let seen = workplace.path("seen.json")
            let sink = try workplace.write(
                "plugins/pipeline-sink-chat",
                """
                #!/bin/sh
                read -r line
                case "$line" in
                *'"type":"describe"'*)
                    echo '{"type":"description","protocol":1,"kind":"chat","version":"1","schema":{"type":"object"}}' ;;
                *)
                    printf '%s' "$line" > '\(seen)'
                    echo '{"type":"delivered"}' ;;
                esac
                """)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: sink)
            let file = try workplace.write(
                "told.json", Self.document(#"{ "on": ["succeeded"], "chat": { "room": "${{ 'a' + 'b' }}" } }"#))
            let end = try await workplace.run("run", file, "--plugins", plugins)
            #expect(end.cause == .exited(0) && !end.errors.contains("warning"), "\(end)")
            let text = try String(contentsOfFile: seen, encoding: .utf8)
            let message = try JSON.parse(Array(text.utf8))
            #expect(message["configuration"] == ["room": "ab"])
            #expect(message["notification"]?["on"] == "succeeded")
            let logs = try await workplace.run("logs", "last", "--json")
            #expect(logs.output.contains(#""sink":"chat""#), "\(logs.output)")
        }
    }

    @Test("a sink that is down delays no job; the background owner sends the rest, under the same id")
    func later() async throws {
        try await withWorkplace { workplace in
            let isUp = Mutex(false)
            let server = try LoopbackServer { _ in .status(isUp.withLock { $0 } ? 204 : 503) }
            defer { server.stop() }
            let file = try workplace.write(
                "told.json",
                Self.document(#"{ "on": ["succeeded"], "webhook": { "POST": "\#(server.url)/hook" } }"#))
            let end = try await workplace.run("run", file)
            #expect(end.cause == .exited(0), "\(end)")
            #expect(end.errors.contains("the notification 'succeeded' was not sent"), "\(end)")
            isUp.withLock { $0 = true }
            let daemon = try workplace.start("daemon", "--log-level", "debug")
            try #require(await daemon.hasWritten("notification sent"), "\(daemon.text)")
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
            let ids = Set(server.requests.compactMap { $0.header("webhook-id") })
            #expect(ids.count == 1)
            let logs = try await workplace.run("logs", "last", "--json")
            #expect(logs.output.split(separator: "\n").filter { $0.contains("notification.sent") }.count == 1)
        }
    }

    @Test("without a desktop a run says so in one line, whatever there was to tell")
    func headless() async throws {
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "told.json", Self.document(#"{ "on": ["started", "succeeded"], "desktop": true }"#))
            let end = try await workplace.run("run", file, environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/none"])
            #expect(end.cause == .exited(0), "\(end)")
            let warnings = end.errors.split(separator: "\n").filter { $0.hasPrefix("warning:") }
            #expect(warnings.count == 1, "\(end)")
            #expect(
                warnings.first?.contains("the notifications 'started', 'succeeded' were not sent: ") == true, "\(end)")
        }
    }

    @Test("secrets that were handed over are kept until all is told")
    func handedSecrets() async throws {
        try await withWorkplace { workplace in
            let count = Mutex(0)
            let server = try LoopbackServer { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return .status(number == 1 ? 503 : 204)
            }
            defer { server.stop() }
            let file = try workplace.write("told.json", Self.signed(server.url))
            let daemon = try workplace.start("daemon", "--log-level", "debug")
            #expect(await daemon.hasWritten("ready"))
            let end = try await workplace.run(
                "run", file, "--detach", environment: Self.secret)
            #expect(end.cause == .exited(0), "\(end)")
            // Tried again after some seconds.
            let requests = await server.requests(atLeast: 2)
            #expect(requests.allSatisfy { $0.header("webhook-signature")?.hasPrefix("v1,") == true })
            try #require(await daemon.hasWritten("notification sent"), "\(daemon.text)")
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
        }
    }

    /// 'resume' said that the job had ended, and took no secret; after a day the notification was given up.
    @Test("an owner that lacks a secret for what is left to be told says so, and 'resume --detach' gives it")
    func givenSecret() async throws {
        try await withWorkplace { workplace in
            let isUp = Mutex(false)
            let server = try LoopbackServer { _ in .status(isUp.withLock { $0 } ? 204 : 503) }
            defer { server.stop() }
            let file = try workplace.write("told.json", Self.signed(server.url))
            let end = try await workplace.run("run", file, environment: Self.secret)
            #expect(end.cause == .exited(0), "\(end)")
            isUp.withLock { $0 = true }
            let daemon = try workplace.start("daemon", "--log-level", "debug", limit: .seconds(150))
            #expect(await daemon.hasWritten("ready"))
            var why = try await workplace.run("why", "last")
            for _ in 0..<1000 where !why.output.contains("the secret HOOK is not set") {
                why = try await workplace.run("why", "last")
            }
            #expect(why.output.contains("do: pipeline resume"), "\(why)")
            let given = try await workplace.run("resume", "last", "--detach", environment: Self.secret)
            #expect(given.cause == .exited(0) && given.errors.contains("has ended already"), "\(given)")
            try #require(await daemon.hasWritten("notification sent"), "\(daemon.text)")
            #expect(server.requests.last?.header("webhook-signature")?.hasPrefix("v1,") == true)
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
        }
    }

    @Test("all are sent at a job's end, also more than are sent at a time")
    func many() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { _ in .status(204) }
            defer { server.stop() }
            let entries = (1...40).map { #"{ "on": ["succeeded"], "webhook": { "POST": "\#(server.url)/\#($0)" } }"# }
            let file = try workplace.write("told.json", Self.document(entries.joined(separator: ", ")))
            let end = try await workplace.run("run", file)
            #expect(end.cause == .exited(0) && !end.errors.contains("warning"), "\(end)")
            #expect(Set(server.requests.map(\.path)).count == 40 && server.requests.count == 40)
        }
    }

    @Test("what run could not tell goes to the owner that listens, with its secrets")
    func handed() async throws {
        try await withWorkplace { workplace in
            let isUp = Mutex(false)
            let server = try LoopbackServer { _ in .status(isUp.withLock { $0 } ? 204 : 503) }
            defer { server.stop() }
            let file = try workplace.write("told.json", Self.signed(server.url))
            let daemon = try workplace.start("daemon", "--log-level", "debug")
            #expect(await daemon.hasWritten("ready"))
            let end = try await workplace.run(
                "run", file, environment: Self.secret)
            #expect(end.cause == .exited(0) && end.errors.contains("the background owner tries again"), "\(end)")
            isUp.withLock { $0 = true }
            try #require(await daemon.hasWritten("notification sent"), "\(daemon.text)")
            #expect(server.requests.last?.header("webhook-signature")?.hasPrefix("v1,") == true)
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
        }
    }

    @Test("a kill between the sending and its commit sends it again under the same id")
    func killed() async throws {
        try await withWorkplace { workplace in
            let gate = Gate()
            let count = Mutex(0)
            let server = try LoopbackServer { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return number == 1 ? ScriptedAnswer([.wait(gate)]) : .status(204)
            }
            defer { server.stop() }
            let file = try workplace.write(
                "told.json",
                Self.document(#"{ "on": ["succeeded"], "webhook": { "POST": "\#(server.url)/hook" } }"#))
            let run = try workplace.start("run", file)
            _ = await server.requests(atLeast: 1)
            run.signal(SIGKILL)
            _ = await run.end
            gate.open()
            let daemon = try workplace.start("daemon")
            _ = await server.requests(atLeast: 2)
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
            #expect(Set(server.requests.compactMap { $0.header("webhook-id") }).count == 1)
        }
    }
}
