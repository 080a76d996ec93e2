import Foundation
import JSONPath
import PipelineTestKit
import SeededNumbers
import Testing

/// Workers as processes, on a real server of PostgreSQL.
@Suite("Workers", .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct WorkerTests {
    private let running = "SELECT count(*) FROM pipeline.steps WHERE state = 'waiting'"
    private let unfinished = "SELECT count(*) FROM pipeline.jobs WHERE ended IS NULL"

    @Test("of three one is killed: its jobs go on with the others, none is lost and none made twice")
    func killed() async throws {
        try await withWorkers { scene in
            let workers = [
                try await scene.startWorker("a"), try await scene.startWorker("b"), try await scene.startWorker("c"),
            ]
            let names = (1...24).map { "job-\($0)" }
            try await scene.submit(names)
            try await scene.wait(for: running, toBe: 24)
            workers[1].signal(SIGKILL)
            _ = await workers[1].end
            try await scene.expire(workers[1])
            scene.service.open()
            try await scene.wait(for: unfinished, toBe: 0)
            #expect(scene.service.names == names.sorted())
            #expect(
                try await scene.count("SELECT count(*) FROM pipeline.events WHERE kind = 'job.succeeded'")
                    == names.count)
            for worker in workers { worker.signal(SIGTERM) }
            for worker in [workers[0], workers[2]] {
                let end = await worker.end
                #expect(end.cause == .exited(0), "\(end)")
            }
        }
    }

    /// The next worker ran it to its end, and submitted its next stage.
    @Test("leave a job paused that was told so when its worker was gone and could not hear of it")
    func pausedWhenGone() async throws {
        try await withWorkers { scene in
            let first = try await scene.startWorker("a")
            try await scene.submit(["job-1"])
            try await scene.wait(for: running, toBe: 1)
            let second = try await scene.startWorker("b")
            first.signal(SIGKILL)
            _ = await first.end
            #expect(try await scene.run("pause", "job-1").cause == .exited(0))
            try await scene.expire(first)
            try await scene.wait(for: "SELECT count(*) FROM pipeline.jobs WHERE cause = 'paused'", toBe: 1)
            scene.service.open()
            #expect(try await scene.run("resume", "job-1", "--detach").cause == .exited(0))
            try await scene.wait(for: unfinished, toBe: 0)
            #expect(scene.service.names == ["job-1"])
            second.signal(SIGTERM)
            #expect(await second.end.cause == .exited(0))
        }
    }

    /// `PIPELINE_KILLS` says how often.
    @Test("killed at any request, again and again, lose no item and submit none twice", .timeLimit(.minutes(30)))
    func killedAgain() async throws {
        try await withWorkers { scene in
            let kills = KillingService.kills ?? 4
            let items = 40 + kills * 16
            let service = try KillingService(polls: 8)
            defer { service.server.stop() }
            let environment = ["API_URL": service.server.url]
            try scene.workplace.write("model.json", KillingService.document)
            try scene.workplace.write("rows.csv", KillingService.rows(items))
            var workers: [RunningProgram] = []
            for number in 1...3 { workers.append(try await scene.startWorker("\(number)", environment: environment)) }
            let begun = try await scene.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", "--detach", environment: environment)
            #expect(begun.cause == .exited(0), "\(begun)")
            var random = SplitMix64(seed: 11)
            var done = 0
            // While there are submits to come there are requests.
            while done < kills, service.keys.count < items - 30 {
                let victim = random.below(3)
                service.kill(workers[victim].processID, at: 1 + random.below(12))
                #expect(await workers[victim].end.cause == .killed(SIGKILL))
                try await scene.expire(workers[victim])
                workers[victim] = try await scene.startWorker("\(victim + 1)", environment: environment)
                done += 1
            }
            try await scene.wait(for: unfinished, toBe: 0)
            #expect(done == kills, "too few items for so many kills")
            let keys = service.keys
            #expect(keys.count == items && keys.values.allSatisfy { $0.count == 1 })
            #expect(try await scene.count("SELECT succeeded FROM pipeline.batches") == items)
            for worker in workers {
                worker.signal(SIGTERM)
                #expect(await worker.end.cause == .exited(0))
            }
        }
    }

    /// It said that the job was suspended, and to resume it, which takes it out of the workers' hands.
    @Test("are waited for by who watches a job that none of them has yet, and no one is told to resume it")
    func watchedBeforeTaken() async throws {
        try await withWorkers { scene in
            try await scene.submit(["a"])
            let list = try await scene.run("list")
            #expect(list.output.contains("nobody has it yet") && !list.output.contains("interrupted"), "\(list)")
            let why = try await scene.run("why", "a")
            #expect(why.output.contains("pipeline worker") && !why.output.contains("pipeline resume"), "\(why)")
            let watch = try scene.workplace.start("watch", "a", environment: scene.environment)
            #expect(await watch.hasWritten("it waits for a worker"), "\(watch.text)")
            let worker = try await scene.startWorker("late")
            scene.service.open()
            let end = await watch.end
            #expect(end.cause == .exited(0) && !end.errors.contains("pipeline resume"), "\(end)")
            worker.signal(SIGTERM)
            #expect(await worker.end.cause == .exited(0))
        }
    }

    /// It said that the batch was interrupted, and to resume it, which takes it out of the workers' hands; who watched it left
    /// when the worker that had it did.
    @Test("are waited for by who watches a batch that none of them has yet, or any more")
    func watchedBatch() async throws {
        try await withWorkers { scene in
            try scene.workplace.write("rows.csv", HeldService.rows(3).text)
            let begun = try await scene.run("run", "held.json", "--each", "rows.csv", "--batch", "june", "--detach")
            #expect(begun.cause == .exited(0), "\(begun)")
            for end in [
                try await scene.run("list"), try await scene.run("show", "june"), try await scene.run("why", "june"),
            ] {
                #expect(end.output.contains("nobody has it yet") && !end.output.contains("interrupted"), "\(end)")
                #expect(!end.output.contains("pipeline resume"), "\(end)")
            }
            let watch = try scene.workplace.start("watch", "june", environment: scene.environment)
            #expect(await watch.hasWritten("it waits for a worker"), "\(watch.text)")
            let owned = "SELECT count(*) FROM pipeline.jobs WHERE key = 'june' AND owner IS NOT NULL"
            let first = try await scene.startWorker("first")
            try await scene.wait(for: running, toBe: 3)
            first.signal(SIGTERM)
            #expect(await first.end.cause == .exited(0))
            let shown = try JSON.parse(Array(try await scene.run("show", "june", "--json").output.utf8))
            #expect(shown["counts"]?["waiting"] == 3 && shown["counts"]?["suspended"] == 0, "\(shown.text)")
            let items = try await scene.run("list", "--items", "june", "--state", "waiting")
            #expect(items.lines.count == 3, "\(items)")
            let second = try await scene.startWorker("second")
            try await scene.wait(for: owned, toBe: 1)
            second.signal(SIGKILL)
            _ = await second.end
            try await scene.expire(second)
            let why = try await scene.run("why", "june")
            #expect(why.output.contains("pipeline worker") && !why.output.contains("pipeline resume"), "\(why)")
            let third = try await scene.startWorker("third")
            scene.service.open()
            let end = await watch.end
            #expect(end.cause == .exited(0) && !end.errors.contains("pipeline resume"), "\(end)")
            #expect(scene.service.names.count == 3)
            third.signal(SIGTERM)
            #expect(await third.end.cause == .exited(0))
        }
    }

    @Test("leave a job whose secret they lack to one that has it, and 'why' says who lacks what")
    func secrets() async throws {
        try await withWorkers { scene in
            let secrets = ["PIPELINE_SECRET_TOKEN": "open-sesame"]
            try scene.workplace.write(
                "held.json",
                HeldService.document.replacingOccurrences(
                    of: #""POST": "/jobs","#,
                    with: #""POST": "/jobs", "headers": { "X-Token": "${{ secrets.TOKEN }}" },"#
                ))
            let poor = try await scene.startWorker("poor")
            let end = try await scene.run(
                "run", "held.json", "-i", "name=a", "--key", "a", "--detach", environment: secrets)
            #expect(end.cause == .exited(0), "\(end)")
            try await scene.wait(for: "SELECT count(*) FROM pipeline.jobs WHERE cause = 'secret'", toBe: 1)
            let why = try await scene.run("why", "a")
            #expect(why.output.contains("the secret TOKEN is not set at worker"), "\(why)")
            let list = try await scene.run("workers")
            let named = why.output.split(separator: "at worker ").last?.prefix { $0 != ";" && $0 != "\n" } ?? "nobody"
            #expect(list.output.contains(named), "\(why) names none of \(list)")
            #expect(list.output.contains(#/ago  \d+\.\d+\.\d+/#), "\(list)")
            let rich = try await scene.startWorker("rich", environment: secrets)
            scene.service.open()
            try await scene.wait(for: unfinished, toBe: 0)
            #expect(scene.service.names == ["a"])
            for worker in [poor, rich] {
                worker.signal(SIGTERM)
                #expect(await worker.end.cause == .exited(0))
            }
        }
    }

    @Test("share the items of one batch; of three the one that has the batch is killed, and none is lost or made twice")
    func batch() async throws {
        try await withWorkers { scene in
            let workers = [
                try await scene.startWorker("a"), try await scene.startWorker("b"), try await scene.startWorker("c"),
            ]
            let names = (1...40).map { "item-\($0)" }
            try scene.workplace.write("rows.csv", "name\n" + names.map { $0 + "\n" }.joined())
            let end = try await scene.run(
                "run", "held.json", "--each", "rows.csv", "--batch", "june", "--at-once", "18", "--tolerate", "1",
                "--detach")
            #expect(end.cause == .exited(0) && end.lines == ["june"], "\(end)")
            try await scene.wait(for: running, toBe: 18)
            let owners = "SELECT count(DISTINCT owner) FROM pipeline.jobs WHERE batch IS NOT NULL AND owner IS NOT NULL"
            #expect(try await scene.count(owners) > 1, "one worker has them all")
            #expect(try await scene.count("SELECT running FROM pipeline.batches") == 18)
            let owner = try await scene.server.query(
                "SELECT owner FROM pipeline.jobs WHERE key = 'june'", in: scene.database)
            let victim = try #require(workers.first { owner.contains("-\($0.processID)-") }, "\(owner)")
            victim.signal(SIGKILL)
            _ = await victim.end
            try await scene.expire(victim)
            scene.service.open()
            try await scene.wait(for: unfinished, toBe: 0)
            #expect(scene.service.names == names.sorted())
            let shown = try JSON.parse(Array(try await scene.run("show", "june", "--json").output.utf8))
            #expect(shown["state"] == "succeeded" && shown["counts"]?["succeeded"] == 40, "\(shown.text)")
            for worker in workers where worker.processID != victim.processID {
                worker.signal(SIGTERM)
                #expect(await worker.end.cause == .exited(0))
            }
        }
    }

    @Test("that ends by SIGTERM lets its jobs go, and another goes on without waiting for a lease")
    func drained() async throws {
        try await withWorkers { scene in
            let first = try await scene.startWorker("a")
            try await scene.submit(["one", "two", "three"])
            try await scene.wait(for: running, toBe: 3)
            first.signal(SIGTERM)
            #expect(await first.end.cause == .exited(0))
            #expect(try await scene.count("SELECT count(*) FROM pipeline.jobs WHERE owner IS NOT NULL") == 0)
            let second = try await scene.startWorker("b")
            scene.service.open()
            try await scene.wait(for: unfinished, toBe: 0)
            #expect(scene.service.names == ["one", "three", "two"])
            second.signal(SIGTERM)
            _ = await second.end
        }
    }

    /// The worker that had let it go left it alone for five minutes, and there was no other.
    @Test("take a batch up at once that they let go for a pause, when it is handed over again")
    func pausedBatch() async throws {
        try await withWorkers { scene in
            let worker = try await scene.startWorker("w1")
            try scene.workplace.write("rows.csv", HeldService.rows(4).text)
            let begun = try await scene.run("run", "held.json", "--each", "rows.csv", "--batch", "june", "--detach")
            #expect(begun.cause == .exited(0), "\(begun)")
            let owned = "SELECT count(*) FROM pipeline.jobs WHERE key = 'june' AND owner IS NOT NULL"
            for _ in 1...2 {
                try await scene.wait(for: owned, toBe: 1)
                #expect(try await scene.run("pause", "june").cause == .exited(0))
                try await scene.wait(for: owned, toBe: 0)
                let handed = try await scene.run("resume", "june", "--detach")
                #expect(handed.cause == .exited(0), "\(handed)")
            }
            scene.service.open()
            try await scene.wait(for: "SELECT succeeded FROM pipeline.batches", toBe: 4)
            worker.signal(SIGTERM)
            _ = await worker.end
        }
    }

    @Test("are asked from anywhere: list, show, workers and cancel")
    func askedFromAnywhere() async throws {
        try await withWorkers { scene in
            let worker = try await scene.startWorker("a")
            try await scene.submit(["one"])
            try await scene.wait(for: running, toBe: 1)
            let workers = try JSON.parse(Array(try await scene.run("workers", "--json").output.utf8))
            #expect(workers.array?.first?["jobs"]?.number?.int == 1)
            #expect(try await scene.run("list").output.contains("held"))
            let cancelled = try await scene.run("cancel", "one")
            #expect(cancelled.cause == .exited(0), "\(cancelled)")
            try await scene.wait(for: unfinished, toBe: 0)
            let shown = try JSON.parse(Array(try await scene.run("show", "one", "--json").output.utf8))
            #expect(shown["state"]?.string == "cancelled")
            #expect(scene.service.cancelled == 1)
            worker.signal(SIGTERM)
            _ = await worker.end
        }
    }

    /// It was told that the process would do it, and nobody did; the remote job went on.
    @Test("are not needed to cancel a job whose run was killed: 'cancel' waits for its lease and does it itself")
    func cancelsAfterKill() async throws {
        try await withWorkers { scene in
            let environment = scene.workplace.environment(scene.environment)
            let folder = scene.workplace.folder
            let killed = try scene.workplace.program.start(
                ["run", "held.json", "-i", "name=one", "--key", "one"], environment: environment, folder: folder,
                limit: .seconds(60))
            try await scene.wait(for: running, toBe: 1)
            killed.signal(SIGKILL)
            _ = await killed.end
            let cancel = try scene.workplace.program.start(
                ["cancel", "one"], environment: environment, folder: folder, limit: .seconds(60))
            #expect(await cancel.hasWritten("was told to cancel"), "\(cancel.text)")
            try await scene.expire(killed)
            let end = await cancel.end
            #expect(end.cause == .exited(0) && end.errors.contains("its process is gone"), "\(end)")
            try await scene.wait(for: unfinished, toBe: 0)
            #expect(scene.service.cancelled == 1)
        }
    }

    @Test("say what is wrong, and never a password")
    func refusals() async throws {
        try await withWorkplace { workplace in
            let address = "postgres://me:hunter2@127.0.0.1:1/jobs"
            for command in [["worker"], ["list"], ["journal", "migrate"], ["doctor"], ["config"], ["workers"]] {
                let end = try await workplace.program.run(
                    command, environment: workplace.environment(["PIPELINE_JOURNAL": address]), folder: workplace.folder
                )
                #expect(!end.output.contains("hunter2") && !end.errors.contains("hunter2"), "\(command): \(end)")
                #expect((end.output + end.errors).contains("postgres://me@127.0.0.1:1/jobs"), "\(command): \(end)")
            }
            let other = try await workplace.run("list", environment: ["PIPELINE_JOURNAL": "mysql://me:hunter2@db/jobs"])
            #expect(other.errors.contains("postgres://USER@HOST/DATABASE") && !other.errors.contains("hunter2"))
        }
    }
}
