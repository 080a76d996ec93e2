import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// A batch that a person cancelled, by the built program.
@Suite("A batch that is cancelled")
struct CancelledBatchTests {
    /// Whoever went on with it began, and paid for, what had not been begun.
    ///
    /// A retry forgot the cancellation for what had not begun, and left alone what it had ended.
    @Test(
        "goes on being cancelled after its process was killed in the midst of it, and then begins again by a retry",
        arguments: ["resume", "retry"])
    func killed(command: String) async throws {
        try await withWorkplace { workplace in
            try workplace.write("model.json", HeldService.document)
            try workplace.write("rows.csv", HeldService.rows(4).text)
            let isUp = Mutex(true)
            let submits = Mutex(0)
            let polls = Mutex(Set<String>())
            let (areUnderWay, told) = (Gate(), Gate())
            let service = try LoopbackServer { request in
                switch request.method {
                case "POST":
                    let number = submits.withLock { count in
                        count += 1
                        return count
                    }
                    return .json(#"{"id": "j\#(number)"}"#)
                case "DELETE":
                    told.open()
                    return isUp.withLock(\.self) ? ScriptedAnswer([.stall]) : .json("{}")
                default:
                    let count = polls.withLock { polls in
                        polls.insert(request.path)
                        return polls.count
                    }
                    if count == 2 { areUnderWay.open() }
                    let isFirst = request.path.hasSuffix("/j1") || request.path.hasSuffix("/j2")
                    return .json(isFirst ? #"{"state": "running"}"# : #"{"state": "done"}"#)
                }
            }
            defer { service.stop() }
            let environment = workplace.environment(["API_URL": service.url])
            func run(_ arguments: String...) async throws -> ProgramEnd {
                try await workplace.program.run(arguments, environment: environment, folder: workplace.folder)
            }
            let program = try workplace.program.start(
                ["run", "model.json", "--each", "rows.csv", "--batch", "june", "--at-once", "2"],
                environment: environment, folder: workplace.folder)
            await areUnderWay.wait()
            #expect(try await run("cancel", "june").cause == .exited(0))
            await told.wait()
            program.signal(SIGKILL)
            _ = await program.end
            isUp.withLock { $0 = false }
            let end = try await run(command, "june")
            let shown = try await workplace.show("june")
            guard command == "resume" else {
                #expect(end.cause == .exited(0) && submits.withLock(\.self) == 6, "\(end)")
                #expect(shown["counts"]?["succeeded"] == 4, "\(shown.text)")
                return
            }
            #expect(end.cause == .exited(1) && end.errors.contains("batch june was cancelled"), "\(end)")
            #expect(submits.withLock(\.self) == 2)
            #expect(shown["counts"]?["cancelled"] == 2 && shown["counts"]?["pending"] == 2, "\(shown.text)")
        }
    }

    /// The pause took the place of the cancellation: the batch was resumed, and all of it was made and paid for.
    @Test("is cancelled although it was told to pause after that, before its process heard of either")
    func paused() async throws {
        try await withWorkplace { workplace in
            try workplace.write("held.json", HeldService.document)
            try workplace.write("rows.csv", HeldService.rows(4).text)
            let service = try HeldService()
            defer { service.server.stop() }
            let environment = workplace.environment(["API_URL": service.server.url])
            func run(_ arguments: String...) async throws -> ProgramEnd {
                try await workplace.program.run(arguments, environment: environment, folder: workplace.folder)
            }
            let program = try workplace.program.start(
                ["run", "held.json", "--each", "rows.csv", "--batch", "june", "--at-once", "2"],
                environment: environment, folder: workplace.folder)
            _ = await service.server.requests(atLeast: 4)
            _ = try await workplace.waitFor(of: "june") { $0.itemsUnderWay == 2 }
            try await workplace.stop(program)
            #expect(try await run("cancel", "june").cause == .exited(0))
            let pause = try await run("pause", "june")
            #expect(pause.cause == .exited(0) && pause.errors.contains("is to be cancelled"), "\(pause)")
            program.signal(SIGCONT)
            let end = await program.end
            #expect(end.cause == .exited(1) && end.errors.contains("batch june was cancelled"), "\(end)")
            #expect(service.names.count == 2 && service.cancelled == 2)
        }
    }

    private static func orders(_ batch: String = "") -> String {
        """
        { "pipeline": 1, "name": "order", "inputs": { "n": { "type": "string" } }, \(batch)
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "order", "kind": "request", "service": "api", "cost": "1",
              "request": { "POST": "/orders", "json": "${{ inputs.n }}", "once": { "resend": true } } } ] }
        """
    }

    /// 'retry' found nothing that had failed, 'resume' and the same command nothing that may begin.
    @Test("begins what it had not begun by a retry, where nothing else of it was cancelled")
    func left() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { _ in .json("{}") }
            defer { server.stop() }
            let environment = ["API_URL": server.url]
            try workplace.write("order.json", Self.orders(#""batch": { "atOnce": 1, "spend": 1 },"#))
            try workplace.write("rows.csv", "n\na\nb\nc\n")
            let first = try await workplace.run(
                "run", "order.json", "--each", "rows.csv", "--batch", "june", environment: environment)
            #expect(first.cause == .exited(75), "\(first)")
            #expect(try await workplace.run("cancel", "june", environment: environment).cause == .exited(0))
            let shown = try await workplace.show("june")
            #expect(shown["state"] == "cancelled" && shown["counts"]?["pending"] == 2, "\(shown.text)")
            let again = try await workplace.run("retry", "june", environment: environment)
            #expect(again.cause == .exited(75) && again.errors.contains("--spend"), "\(again)")
            let rest = try await workplace.run("resume", "june", "--spend", "9", environment: environment)
            #expect(rest.cause == .exited(0) && server.requests.count == 3, "\(rest)")
        }
    }

    /// All of it had succeeded, and it was said to have failed.
    @Test("has succeeded where all that was at work came to its end")
    func succeeded() async throws {
        try await withWorkplace { workplace in
            let gate = Gate()
            let server = try LoopbackServer { _ in ScriptedAnswer([.wait(gate), .send(200, [], Array("{}".utf8))]) }
            defer { server.stop() }
            let environment = ["API_URL": server.url]
            try workplace.write("order.json", Self.orders())
            try workplace.write("rows.csv", "n\na\nb\n")
            let program = try workplace.start(
                "run", "order.json", "--each", "rows.csv", "--batch", "june", environment: environment)
            _ = await server.requests(atLeast: 2)
            #expect(try await workplace.run("cancel", "june", environment: environment).cause == .exited(0))
            gate.open()
            let end = await program.end
            #expect(end.cause == .exited(0), "\(end)")
            #expect(try await workplace.show("june")["state"] == "succeeded")
        }
    }

    /// The word about one item was taken for one about the batch, and nobody did the rows.
    @Test("keeps a second command from its rows, unless it was one item that was cancelled", arguments: [false, true])
    func joined(isWhole: Bool) async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            let environment = ["API_URL": service.server.url]
            try workplace.write("held.json", HeldService.document)
            try workplace.write("rows.csv", HeldService.rows(4).text)
            func start() throws -> RunningProgram {
                try workplace.start(
                    "run", "held.json", "--each", "rows.csv", "--batch", "june", environment: environment)
            }
            let first = try start()
            _ = await service.server.requests(atLeast: 8)
            try workplace.write("rows.csv", HeldService.rows(6).text)
            let second = try start()
            #expect(await second.hasWritten("is running in another process"), "\(second.text)")
            let name = isWhole ? "june" : "june/talk-2"
            #expect(try await workplace.run("cancel", name, environment: environment).cause == .exited(0))
            _ = try await workplace.run("watch", name, environment: environment)
            service.open()
            #expect(await first.end.cause == .exited(1))
            let end = await second.end
            #expect(end.cause == .exited(1), "\(end)")
            #expect(end.errors.contains("none of the rows of this command was read") == isWhole, "\(end)")
            let counts = try await workplace.show("june")["counts"]
            #expect(counts?["cancelled"] == (isWhole ? 4 : 1), "\(counts?.text ?? "")")
            #expect((counts?["succeeded"]?.number?.int ?? 0) == (isWhole ? 0 : 5), "\(counts?.text ?? "")")
        }
    }

    /// The next `resume` cancelled what the program had said it would not.
    @Test("goes on as before when the cancellation was refused for a secret that is kept nowhere")
    func refused() async throws {
        try await withWorkplace { workplace in
            let isDone = Mutex(false)
            let asked = Gate()
            let server = try LoopbackServer { _ in
                asked.open()
                return isDone.withLock(\.self) ? .json("{}") : ScriptedAnswer([.stall])
            }
            defer { server.stop() }
            try workplace.write(
                "demo.json",
                """
                { "pipeline": 1, "name": "demo",
                  "inputs": { "tok": { "type": "string", "secret": true }, "n": { "type": "string" } },
                  "stages": [ { "id": "a", "kind": "request",
                                "request": { "POST": "${{ env.API_URL }}/jobs", "json": { "t": "${{ inputs.tok }}" },
                                             "once": { "resend": true } } } ] }
                """)
            try workplace.write("rows.csv", "n\n1\n")
            let environment = workplace.environment(["API_URL": server.url])
            func run(_ arguments: String...) async throws -> ProgramEnd {
                try await workplace.program.run(arguments, environment: environment, folder: workplace.folder)
            }
            let program = try workplace.program.start(
                ["run", "demo.json", "--each", "rows.csv", "--batch", "june", "-i", "tok=hush"],
                environment: environment, folder: workplace.folder)
            await asked.wait()
            program.signal(SIGKILL)
            _ = await program.end
            let refused = try await run("cancel", "june")
            #expect(refused.cause == .exited(75), "\(refused)")
            isDone.withLock { $0 = true }
            let end = try await run("resume", "june", "-i", "tok=hush")
            #expect(end.cause == .exited(0), "\(end)")
        }
    }
}
