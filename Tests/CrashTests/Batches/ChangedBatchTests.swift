import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// Rows that were mended while their items stood in the middle, by the built program.
@Suite("A batch whose rows were changed while it was interrupted")
struct ChangedBatchTests {
    private static let document = HeldService.document
        .replacing("\"inputs\": {", with: #""inputs": { "lang": { "type": "string" },"#)
        .replacing(#"{ "name": "${{ inputs.name }}" }"#, with: #"{ "name": "${{ inputs.name }}-${{ inputs.lang }}" }"#)

    /// A service whose jobs are named as they were submitted, and end once one of them was cancelled.
    private final class Service: Sendable {
        private struct State {
            var submitted: [String] = []
            var cancelled: [String] = []
            var polled: Set<String> = []
        }

        private let state: Box
        let server: LoopbackServer
        let areUnderWay: Gate

        private final class Box: Sendable { let state = Mutex(State()) }

        init(_ count: Int) throws {
            let (box, gate) = (Box(), Gate())
            (state, areUnderWay) = (box, gate)
            server = try LoopbackServer { request in
                let id = String(request.path.split(separator: "/").last ?? "")
                switch request.method {
                case "POST":
                    let name = (try? JSON.parse(request.body))?["name"]?.string ?? ""
                    box.state.withLock { $0.submitted.append(name) }
                    return .json(#"{"id": "\#(name)"}"#)
                case "DELETE":
                    box.state.withLock { $0.cancelled.append(id) }
                    return .json("{}")
                default:
                    let (polled, isDone) = box.state.withLock { state in
                        state.polled.insert(id)
                        return (state.polled.count, !state.cancelled.isEmpty)
                    }
                    if polled == count { gate.open() }
                    return .json(isDone ? #"{"state": "done"}"# : #"{"state": "running"}"#)
                }
            }
        }

        var submitted: [String] { state.state.withLock { $0.submitted.sorted() } }
        var cancelled: [String] { state.state.withLock(\.cancelled) }
    }

    private static let command = ["run", "held.json", "--each", "rows.csv", "--batch", "june"]

    /// They went on with what they had been begun with, and the batch succeeded without a word.
    @Test("with --changed cancels what is under way of them and does it anew", arguments: [SIGKILL, SIGINT])
    func changed(signal: Int32) async throws {
        try await withWorkplace { workplace in
            let service = try Service(3)
            defer { service.server.stop() }
            let environment = workplace.environment(["API_URL": service.server.url])
            try workplace.write("held.json", Self.document)
            try workplace.write("rows.csv", "name,lang\na,de\nb,de\nc,de\n")
            let first = try workplace.program.start(
                Self.command, environment: environment, folder: workplace.folder)
            await service.areUnderWay.wait()
            first.signal(signal)
            _ = await first.end
            try workplace.write("rows.csv", "name,lang\na,fr\nb,de\nc,de\n")
            let end = try await workplace.program.run(
                Self.command + ["--changed"], environment: environment, folder: workplace.folder)
            #expect(end.cause == .exited(0) && end.errors.contains("june: 3/3 succeeded"), "\(end)")
            #expect(service.submitted == ["a-de", "a-fr", "b-de", "c-de"] && service.cancelled == ["a-de"])
            let again = try await workplace.program.run(
                Self.command + ["--changed"], environment: environment, folder: workplace.folder)
            #expect(again.cause == .exited(0) && service.submitted.count == 4, "\(again)")
        }
    }

    @Test("with --changed and a submit that may have arrived asks for that first, and then does the item anew")
    func open() async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            try workplace.write("held.json", Self.document)
            try workplace.write("rows.csv", "name,lang\na,de\n")
            func run(_ more: [String: String], _ flags: String...) async throws -> ProgramEnd {
                try await workplace.program.run(
                    Self.command + flags,
                    environment: workplace.environment(["API_URL": service.server.url].merging(more) { $1 }),
                    folder: workplace.folder)
            }
            #expect(try await run(["PIPELINE_CRASH_AT": "submit.sent"]).cause == .killed(SIGKILL))
            service.open()
            try workplace.write("rows.csv", "name,lang\na,fr\n")
            let end = try await run([:], "--changed")
            #expect(end.cause == .exited(0) && end.errors.contains("june: 1/1 succeeded"), "\(end)")
            #expect(service.names == ["a-de", "a-fr"] && service.cancelled == 0)
        }
    }

    @Test("with --changed and a submit that is unknown leaves the item alone, and says so")
    func unknown() async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            try workplace.write(
                "held.json", Self.document.replacing(#""once": { "key": "Idempotency-Key" }, "#, with: ""))
            try workplace.write("rows.csv", "name,lang\na,de\n")
            func run(_ more: [String: String], _ flags: String...) async throws -> ProgramEnd {
                try await workplace.program.run(
                    Self.command + flags,
                    environment: workplace.environment(["API_URL": service.server.url].merging(more) { $1 }),
                    folder: workplace.folder)
            }
            #expect(try await run(["PIPELINE_CRASH_AT": "submit.sent"]).cause == .killed(SIGKILL))
            service.open()
            try workplace.write("rows.csv", "name,lang\na,fr\n")
            let end = try await run([:], "--changed")
            #expect(end.cause == .exited(3), "\(end)")
            let note = "a has other inputs than before and was left alone, for it has not ended"
            #expect(end.errors.contains(note), "\(end)")
            let cancelled = try await workplace.program.run(
                ["cancel", "june"], environment: workplace.environment(["API_URL": service.server.url]),
                folder: workplace.folder)
            let open = "1 item that was cancelled has a submit that was not answered"
            #expect(cancelled.errors.contains(open), "\(cancelled)")
        }
    }

    @Test("with --changed and another -i says that what was begun goes on as it began")
    func shared() async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            let environment = workplace.environment(["API_URL": service.server.url])
            try workplace.write("held.json", Self.document)
            try workplace.write("rows.csv", "name\na\n")
            let first = try workplace.program.start(
                Self.command + ["-i", "lang=de"], environment: environment, folder: workplace.folder)
            _ = await service.server.requests(atLeast: 2)
            first.signal(SIGKILL)
            _ = await first.end
            service.open()
            let end = try await workplace.program.run(
                Self.command + ["-i", "lang=fr", "--changed"], environment: environment, folder: workplace.folder)
            #expect(end.cause == .exited(0) && service.names == ["a-de"], "\(end)")
            #expect(
                end.errors.contains("note: 1 item goes on with the document and the inputs that it was begun with"),
                "\(end)")
        }
    }
}
