import Foundation
import HTTPTypes
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// Secret inputs, whose values nobody keeps, when a job goes on.
@Suite("A secret input at a resume")
struct SecretInputTests {
    /// A service that refuses all requests until it is mended, and knows what each said.
    private final class RefusingService: Sendable {
        private let box: Box
        let server: LoopbackServer

        private final class Box: Sendable {
            let isMended = Mutex(false)
        }

        init() throws {
            let box = Box()
            self.box = box
            server = try LoopbackServer { _ in
                box.isMended.withLock { $0 } ? .json("{}") : .json(#"{"error": "no"}"#, status: 422)
            }
        }

        func mend() { box.isMended.withLock { $0 = true } }
        var bodies: [String] { server.requests.map { String(decoding: $0.body, as: UTF8.self) } }
    }

    private static func document(_ input: String) -> String {
        """
        { "pipeline": 1, "name": "demo", "inputs": { "n": { "type": "string", "default": "1" }, "tok": { \(input) } },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [ { "id": "s", "kind": "request", "service": "api",
            "request": { "POST": "/jobs", "json": { "t": "${{ inputs.tok }}" } } } ] }
        """
    }

    private func withScene(
        _ input: String, _ body: (Workplace, RefusingService, [String: String]) async throws -> Void
    ) async throws {
        try await withWorkplace { workplace in
            let service = try RefusingService()
            defer { service.server.stop() }
            try workplace.write("demo.json", Self.document(input))
            try workplace.write("token", "text")
            try workplace.write("secrets", "tok=5\n")
            try await body(workplace, service, ["API_URL": service.server.url])
        }
    }

    /// Bugs that were: a default became null, and what was given again was taken for text, whatever its type.
    @Test(
        "is sent as at the start: the default that held, what is given again in its type, what a secrets file has",
        arguments: [
            (#""type": "string", "secret": true, "default": "standard""#, [], [], #"{"t":"standard"}"#),
            (#""type": "number", "secret": true"#, ["-i", "tok=5"], ["-i", "tok=5"], #"{"t":5}"#),
            (#""type": "boolean", "secret": true"#, ["-i", "tok=true"], ["-i", "tok=true"], #"{"t":true}"#),
            (#""type": "json", "secret": true"#, ["-i", "tok=[1]"], ["-i", "tok=[1]"], #"{"t":[1]}"#),
            (#""type": "string", "secret": true"#, ["-i", "tok=@token"], ["-i", "tok=@token"], #"{"t":"text"}"#),
            (#""type": "number", "secret": true"#, ["-i", "tok=5"], ["--secrets-file", "secrets"], #"{"t":5}"#),
        ])
    func values(input: String, start: [String], again: [String], body: String) async throws {
        try await withScene(input) { workplace, service, environment in
            func run(_ arguments: [String]) async throws -> ProgramEnd {
                try await workplace.program.run(
                    arguments, environment: workplace.environment(environment), folder: workplace.folder)
            }
            #expect(try await run(["run", "demo.json"] + start).cause == .exited(1))
            service.mend()
            let end = try await run(["resume", "last"] + again)
            #expect(end.cause == .exited(0), "\(end)")
            #expect(service.bodies == [body, body])
        }
    }

    @Test("that was given is needed again, and a wrong one is refused; nothing is sent then, and no value is shown")
    func missing() async throws {
        try await withScene(#""type": "number", "secret": true, "default": 1"#) { workplace, service, environment in
            func run(_ arguments: String...) async throws -> ProgramEnd {
                try await workplace.program.run(
                    arguments, environment: workplace.environment(environment), folder: workplace.folder)
            }
            #expect(try await run("run", "demo.json", "-i", "tok=5").cause == .exited(1))
            let bare = try await run("resume", "last")
            #expect(bare.cause == .exited(75) && bare.errors.contains("'tok' is kept nowhere"), "\(bare)")
            let wrong = try await run("resume", "last", "-i", "tok=hush")
            #expect(wrong.cause == .exited(2) && wrong.errors.contains("'tok' must be a number"), "\(wrong)")
            #expect(!wrong.errors.contains("hush"), "\(wrong)")
            #expect(service.bodies.count == 1)
        }
    }

    @Test("of a batch holds for all of its items, the default as well")
    func batch() async throws {
        for (given, value) in [([], "standard"), (["-i", "tok=mine"], "mine")] {
            try await withScene(#""type": "string", "secret": true, "default": "standard""#) {
                workplace, service, environment in
                func run(_ arguments: [String]) async throws -> ProgramEnd {
                    try await workplace.program.run(
                        arguments, environment: workplace.environment(environment), folder: workplace.folder)
                }
                try workplace.write("rows.csv", "n\n1\n2\n")
                let each = ["run", "demo.json", "--each", "rows.csv", "--batch", "june"]
                #expect(try await run(each + given).cause == .exited(1))
                service.mend()
                if !given.isEmpty { #expect(try await run(["retry", "june"]).cause == .exited(75)) }
                let end = try await run(["retry", "june"] + given)
                #expect(end.cause == .exited(0), "\(end)")
                #expect(service.bodies == Array(repeating: #"{"t":"\#(value)"}"#, count: 4))
            }
        }
    }

    /// A batch whose secret was lost could not be ended at all.
    @Test("that is lost holds a batch up that is to be cancelled at its service, not one that ends here only")
    func cancelled() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { _ in ScriptedAnswer([.stall]) }
            defer { server.stop() }
            try workplace.write("demo.json", Self.document(#""type": "string", "secret": true"#))
            try workplace.write("rows.csv", "n\n1\n2\n")
            let run = try workplace.program.start(
                ["run", "demo.json", "--each", "rows.csv", "--batch", "june", "-i", "tok=hush"],
                environment: workplace.environment(["API_URL": server.url]), folder: workplace.folder)
            _ = await server.requests(atLeast: 2)
            run.signal(SIGKILL)
            _ = await run.end
            let refused = try await workplace.run("cancel", "june")
            #expect(refused.cause == .exited(75) && refused.errors.contains("'tok' is kept nowhere"), "\(refused)")
            #expect(try await workplace.run("cancel", "june", "--local").cause == .exited(0))
            let shown = try await workplace.show("june")
            #expect(shown["state"] == "cancelled" && shown["counts"]?["cancelled"] == 2, "\(shown)")
        }
    }

    @Test("is read from standard input once")
    func standardInput() async throws {
        try await withScene(#""type": "string", "secret": true"#) { workplace, _, environment in
            let end = try await workplace.run(
                "run", "demo.json", "--each", "n=-", "-i", "tok=@-", environment: environment)
            #expect(end.cause == .exited(64) && end.errors.contains("standard input can be read once"), "\(end)")
        }
    }
}
