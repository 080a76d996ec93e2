import Foundation
import JSONPath
import PipelineTestKit
import Testing

/// Batches that the background owner runs.
@Suite("A batch in the background")
struct DetachedBatchTests {
    private struct Scene {
        let workplace: Workplace
        let service: HeldService
        let background: BackgroundProcess
        let names: [String]

        func run(_ arguments: String...) async throws -> ProgramEnd {
            try await workplace.program.run(
                arguments, environment: workplace.environment(["API_URL": service.server.url]),
                folder: workplace.folder)
        }

        func detach(_ more: String...) async throws -> ProgramEnd {
            try await workplace.program.run(
                ["run", "held.json", "--each", "rows.csv", "--batch", "june", "--detach"] + more,
                environment: workplace.environment(["API_URL": service.server.url]), folder: workplace.folder)
        }

        /// The batch, once so many of its items are under way: between two polls an item waits.
        func waitForUnderWay(_ count: Int) async throws -> JSON {
            try await workplace.waitFor(of: "june") { $0.itemsUnderWay == count }
        }

        /// The batch, once so many of its items are in the state.
        func waitFor(_ state: String, _ count: Int) async throws -> JSON {
            try await workplace.waitFor(of: "june") { $0["counts"]?[state]?.number?.int == count }
        }
    }

    private func withScene(_ count: Int, _ body: (Scene) async throws -> Void) async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            let (rows, names) = HeldService.rows(count)
            try workplace.write("held.json", HeldService.document)
            try workplace.write("rows.csv", rows)
            let background = BackgroundProcess(workplace: workplace)
            do {
                try await body(
                    Scene(workplace: workplace, service: service, background: background, names: names))
            } catch {
                await background.remove()
                throw error
            }
            await background.remove()
        }
    }

    @Test("prints its key alone, ends without the command, and its results file has each item once")
    func detaches() async throws {
        try await withScene(40) { scene in
            scene.service.open()
            let end = try await scene.detach("--at-once", "8", "--results", "results.jsonl")
            #expect(end.cause == .exited(0) && end.lines == ["june"], "\(end)")
            let shown = try await scene.workplace.waitFor(["succeeded", "failed", "suspended"], of: "june")
            #expect(shown["state"] == "succeeded" && shown["counts"]?["succeeded"] == 40, "\(shown.text)")
            #expect(scene.service.names == scene.names.sorted())
            let text = String(
                decoding: scene.workplace.bytes(scene.workplace.path("results.jsonl")) ?? [], as: UTF8.self)
            #expect(text.split(separator: "\n").count == 40, "\(text)")
            let again = try await scene.detach("--results", "results.jsonl")
            #expect(again.cause == .exited(0) && again.lines == ["june"], "\(again)")
            #expect(scene.service.names.count == 40)
        }
    }

    /// Where the pause was not yet done, 'resume' ended with 75, and the batch stayed paused.
    @Test("goes on when it is handed over while it runs, and in the moment in which it is told to pause")
    func pausedAndResumed() async throws {
        try await withScene(6) { scene in
            #expect(try await scene.detach("--at-once", "3").cause == .exited(0))
            _ = try await scene.waitForUnderWay(3)
            let running = try await scene.run("resume", "june", "--detach")
            #expect(running.cause == .exited(0) && running.lines == ["june"], "\(running)")
            for _ in 1...5 {
                #expect(try await scene.run("pause", "june").cause == .exited(0))
                let resumed = try await scene.run("resume", "june", "--detach")
                #expect(resumed.cause == .exited(0) && resumed.lines == ["june"], "\(resumed)")
            }
            scene.service.open()
            let shown = try await scene.workplace.waitFor(["succeeded", "failed", "suspended"], of: "june")
            #expect(shown["state"] == "succeeded", "\(shown.text)")
        }
    }

    /// The batch stayed suspended for ever, and only the log knew why.
    @Test("goes on without its results file where that can't be opened")
    func lostResults() async throws {
        try await withScene(6) { scene in
            let folder = scene.workplace.path("rows")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            #expect(try await scene.detach("--at-once", "3", "--results", "rows/results.jsonl").cause == .exited(0))
            _ = try await scene.waitForUnderWay(3)
            #expect(try await scene.run("pause", "june").cause == .exited(0))
            _ = try await scene.workplace.waitFor(["suspended"], of: "june")
            try FileManager.default.removeItem(atPath: folder)
            scene.service.open()
            #expect(try await scene.run("resume", "june", "--detach").cause == .exited(0))
            let shown = try await scene.workplace.waitFor(["succeeded", "failed"], of: "june")
            #expect(shown["counts"]?["succeeded"] == 6, "\(shown.text)")
            #expect(try await scene.run("results", "june").lines.count == 6)
        }
    }

    @Test("begins again there what was cancelled, by retry --detach")
    func retried() async throws {
        try await withScene(3) { scene in
            #expect(try await scene.detach().cause == .exited(0))
            _ = try await scene.waitForUnderWay(3)
            #expect(try await scene.run("cancel", "june").cause == .exited(0))
            _ = try await scene.workplace.waitFor(["cancelled"], of: "june")
            scene.service.open()
            let retried = try await scene.run("retry", "june", "--detach")
            #expect(retried.cause == .exited(0) && retried.lines == ["june"], "\(retried)")
            let shown = try await scene.workplace.waitFor(["succeeded", "failed", "suspended"], of: "june")
            #expect(shown["counts"]?["succeeded"] == 3, "\(shown.text)")
        }
    }

    @Test("killed with its owner goes on with the next by itself; no item is lost or submitted twice")
    func killed() async throws {
        try await withScene(30) { scene in
            #expect(try await scene.detach("--at-once", "10").cause == .exited(0))
            _ = try await scene.waitForUnderWay(10)
            try await scene.background.end(by: SIGKILL)
            #expect(try await scene.workplace.show("june")["state"] == "suspended")
            scene.service.open()
            let daemon = try scene.workplace.start("daemon")
            #expect(await daemon.hasWritten("ready"))
            let shown = try await scene.workplace.waitFor(["succeeded", "failed"], of: "june")
            #expect(shown["counts"]?["succeeded"] == 30, "\(shown.text)")
            #expect(scene.service.names == scene.names.sorted())
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
            let doctor = try await scene.run("doctor")
            #expect(doctor.output.contains("journal   whole"), "\(doctor)")
        }
    }

    @Test("is paused, handed over again and cancelled as one job is, with its items")
    func asked() async throws {
        try await withScene(12) { scene in
            #expect(try await scene.detach("--at-once", "5").cause == .exited(0))
            _ = try await scene.waitForUnderWay(5)
            let pause = try await scene.run("pause", "june")
            #expect(pause.errors.contains("its process was told to pause"), "\(pause)")
            let paused = try await scene.workplace.waitFor(["suspended"], of: "june")
            #expect(paused["cause"] == "paused" && paused["counts"]?["suspended"] == 5, "\(paused.text)")
            let resumed = try await scene.run("resume", "june", "--detach")
            #expect(resumed.cause == .exited(0) && resumed.lines == ["june"], "\(resumed)")
            let going = try await scene.waitFor("suspended", 0)
            #expect(
                going.itemsUnderWay == 5 && going["counts"]?["pending"] == 7,
                "those that were begun have their places: \(going.text)")
            let cancel = try await scene.run("cancel", "june")
            #expect(cancel.errors.contains("its process was told to cancel"), "\(cancel)")
            let cancelled = try await scene.workplace.waitFor(["cancelled"], of: "june")
            #expect(cancelled["counts"]?["cancelled"] == 5, "\(cancelled.text)")
            #expect(scene.service.names.count == 5 && scene.service.cancelled == 5)
        }
    }

    @Test("begun in a terminal and stopped there goes on in the background")
    func handedOver() async throws {
        try await withScene(9) { scene in
            let program = try scene.workplace.program.start(
                ["run", "held.json", "--each", "rows.csv", "--batch", "june", "--at-once", "4"],
                environment: scene.workplace.environment(["API_URL": scene.service.server.url]),
                folder: scene.workplace.folder)
            _ = await scene.service.server.requests(atLeast: 8)
            program.signal(SIGINT)
            #expect(await program.end.cause == .exited(75))
            scene.service.open()
            #expect(try await scene.run("resume", "june", "--detach").cause == .exited(0))
            let shown = try await scene.workplace.waitFor(["succeeded", "failed"], of: "june")
            #expect(shown["counts"]?["succeeded"] == 9, "\(shown.text)")
            #expect(scene.service.names == scene.names.sorted())
        }
    }
}
