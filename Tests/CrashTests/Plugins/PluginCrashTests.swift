import CLibrary
import Foundation
import JSONPath
import PipelineTestKit
import Testing

@Suite("A plugin's step crashes, goes on and is cancelled like a built-in's")
struct PluginCrashTests {
    /// Works in ten steps that it commits, orders something once at a "service", a folder of files named by their
    /// keys, and works in ten more.
    private static func program(once: Bool) -> String {
        """
        #!/usr/bin/env python3
        import json, os, sys
        def send(**message):
            sys.stdout.write(json.dumps(message) + "\\n")
            sys.stdout.flush()
        def receive():
            line = sys.stdin.readline()
            if not line: sys.exit(9)
            return json.loads(line)
        first = receive()
        if first["type"] == "describe":
            send(type="description", protocol=1, kind="order", version="1", captures=[{"name": "id", "submitted": True}], schema={"type": "object"}\(once ? #", once="key""# : ""))
            sys.exit(0)
        folder = first["folder"]
        def note(name, text):
            with open(os.path.join(folder, name), "a") as file: file.write(text + "\\n")
        if first["type"] == "cancel":
            note("cancelled", json.dumps(first["checkpoint"]))
            send(type="cancelled")
            sys.exit(0)
        state = first["checkpoint"] or {"steps": 0}
        def work(upTo):
            while state["steps"] < upTo:
                note("steps", str(state["steps"]))
                state["steps"] += 1
                send(type="commit", checkpoint=state)
                assert receive()["type"] == "committed"
        work(10)
        send(type="intent")
        answer = receive()
        if answer["type"] == "submit":
            note("sends", answer["key"])
            open(os.path.join(folder, "order-" + answer["key"]), "w").close()
            send(type="submitted", captures={"id": answer["key"]})
        work(20)
        if first["configuration"].get("hang"):
            note("hanging", "yes")
            sys.stdin.read()
            sys.exit(9)
        note("finished", "yes")
        send(type="finished")
        """
    }

    private func prepare(_ workplace: Workplace, once: Bool = true, hang: Bool = false) throws -> String {
        let folder = workplace.path("plugins")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let program = try workplace.write("plugins/pipeline-stage-order", Self.program(once: once))
        chmod(program, 0o755)
        return try workplace.write(
            "order.json",
            """
            { "pipeline": 1, "name": "order", "retry": { "delay": "10ms" },
              "stages": [ { "id": "order", "kind": "order", "hang": \(hang) },
                          { "id": "kept", "kind": "write", "to": "id.txt", "text": "${{ stages.order.id }}" } ] }
            """)
    }

    private func environment(_ workplace: Workplace, _ more: [String: String] = [:]) -> [String: String] {
        ["PIPELINE_PLUGINS": workplace.path("plugins")].merging(more) { $1 }
    }

    private func lines(_ name: String, _ workplace: Workplace) -> [String] {
        String(decoding: workplace.bytes("\(workplace.output)/\(name)") ?? [], as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    /// One order, each step done once or, where the kill came between the work and its commit, twice.
    private func checkFinished(_ end: ProgramEnd, _ workplace: Workplace) async throws {
        #expect(end.cause == .exited(0), "\(end)")
        #expect(end.lines == [workplace.output + "/id.txt"])
        let orders = workplace.files(below: workplace.output).filter { $0.hasPrefix("order-") }
        #expect(orders.count == 1)
        #expect(lines("id.txt", workplace).first.map { ["order-\($0)"] } == orders)
        let steps = lines("steps", workplace)
        #expect(Set(steps) == Set((0..<20).map(String.init)))
        #expect(steps.count <= 21)
        #expect(lines("finished", workplace) == ["yes"])
        try await workplace.checkEvents()
    }

    @Test("show without the plugins that a job ran with says that it hides what was captured")
    func shownWithout() async throws {
        try await withWorkplace { workplace in
            let document = try prepare(workplace)
            let end = try await workplace.run(
                "run", document, "--output", workplace.output, environment: environment(workplace))
            #expect(end.cause == .exited(0), "\(end)")
            let known = try await workplace.run("show", "last", environment: environment(workplace))
            #expect(known.cause == .exited(0) && !known.errors.contains("captures are hidden"), "\(known)")
            let unknown = try await workplace.run("show", "last", "--json")
            #expect(unknown.cause == .exited(0) && unknown.errors.contains("captures are hidden"), "\(unknown)")
        }
    }

    @Test("a kind that is mistyped is told with the names of plugins that the document does not name")
    func mistyped() async throws {
        try await withWorkplace { workplace in
            _ = try prepare(workplace)
            let text = #"{ "pipeline": 1, "name": "order", "stages": [ { "id": "a", "kind": "NAME" } ] }"#
            for (name, hint) in [("ordr", "did you mean 'order'?"), ("xyzzy", "download, order, request")] {
                let document = try workplace.write("mistyped.json", text.replacingOccurrences(of: "NAME", with: name))
                let end = try await workplace.run("validate", document, environment: environment(workplace))
                #expect((end.output + end.errors).contains(hint), "\(end)")
            }
        }
    }

    @Test(
        "killed at each point of the ledger, resume finishes it with one order",
        arguments: ["submit.intent", "submit.sending", "submit.answered", "submit.committed"])
    func ledger(_ point: String) async throws {
        try await withWorkplace { workplace in
            let document = try prepare(workplace)
            let killed = try await workplace.run(
                "run", document, "--output", workplace.output,
                environment: environment(workplace, ["PIPELINE_CRASH_AT": point]))
            #expect(killed.cause == .killed(9), "\(killed)")
            let end = try await workplace.run("resume", environment: environment(workplace))
            try await checkFinished(end, workplace)
            #expect(Set(lines("sends", workplace)).count == 1)
        }
    }

    @Test("without \"once\" a kill while it is sent leaves it unknown, until a person says what became of it")
    func unknown() async throws {
        try await withWorkplace { workplace in
            let document = try prepare(workplace, once: false)
            let killed = try await workplace.run(
                "run", document, "--output", workplace.output,
                environment: environment(workplace, ["PIPELINE_CRASH_AT": "submit.answered"]))
            #expect(killed.cause == .killed(9), "\(killed)")
            let lost = try await workplace.run("resume", environment: environment(workplace))
            #expect(lost.cause == .exited(3), "\(lost)")
            let key = try #require(lines("sends", workplace).first)
            let resolved = try await workplace.run(
                "resolve", "last", "--stage", "order", "--set", "id=\(key)", environment: environment(workplace))
            #expect(resolved.cause == .exited(0), "\(resolved)")
            let end = try await workplace.run("resume", environment: environment(workplace))
            try await checkFinished(end, workplace)
            #expect(lines("sends", workplace) == [key])
        }
    }

    @Test("killed while it works, its program ends too, and resume goes on at its checkpoint")
    func killed() async throws {
        try await withWorkplace { workplace in
            let document = try prepare(workplace, hang: true)
            let watch = try FolderWatch(workplace.output)
            let program = try workplace.start(
                "run", document, "--output", workplace.output, environment: environment(workplace))
            #expect(await watch.until { lines("hanging", workplace).count == 1 })
            program.signal(SIGKILL)
            #expect(await program.end.cause == .killed(9))
            let steps = lines("steps", workplace).count
            #expect(steps == 20)
            // The program's pipes are closed: it ends by itself. The document that the job started with still hangs.
            let resumed = try workplace.start("resume", environment: environment(workplace))
            #expect(await watch.until { lines("hanging", workplace).count == 2 })
            #expect(lines("steps", workplace).count == steps)
            resumed.signal(SIGTERM)
            #expect(await resumed.end.cause == .exited(75))
            #expect(try await workplace.show()["state"] == "suspended")
        }
    }

    /// The mark of a run was once a number that its owner alone knew: after kill -9 two programs wrote to one file.
    @Test("killed while its program does not listen, resume ends all of that before the next starts")
    func deaf() async throws {
        try await withWorkplace { workplace in
            let document = try prepare(workplace)
            let program = try workplace.write(
                "plugins/pipeline-stage-order",
                """
                #!/usr/bin/env python3
                import json, os, sys, time
                first = json.loads(sys.stdin.readline())
                if first["type"] == "describe":
                    print(json.dumps({"type": "description", "protocol": 1, "kind": "order", "version": "1",
                                      "captures": ["id"], "schema": {"type": "object"}}))
                    sys.exit(0)
                def runs(number):
                    try: return ") Z" not in open("/proc/" + number + "/stat").read()
                    except OSError: return False
                os.chdir(first["folder"])
                if not os.path.exists("numbers"):
                    if os.fork() == 0: os.setsid()
                    with open("numbers", "a") as file: file.write(str(os.getpid()) + "\\n")
                    time.sleep(600)
                left = [number for number in open("numbers").read().split() if runs(number)]
                print(json.dumps({"type": "finished", "captures": {"id": str(left)}}))
                """)
            chmod(program, 0o755)
            let watch = try FolderWatch(workplace.output)
            let owner = try workplace.start(
                "run", document, "--output", workplace.output, environment: environment(workplace))
            #expect(await watch.until { lines("numbers", workplace).count == 2 })
            owner.signal(SIGKILL)
            #expect(await owner.end.cause == .killed(9))
            let end = try await workplace.run("resume", environment: environment(workplace))
            #expect(end.cause == .exited(0), "\(end)")
            #expect(lines("id.txt", workplace) == ["[]"])
        }
    }

    @Test("the command that a killed pipeline was running is ended at once, not when the job goes on")
    func command() async throws {
        try await withWorkplace { workplace in
            let document = try workplace.write(
                "command.json",
                #"""
                { "pipeline": 1, "name": "command", "stages": [ { "id": "a", "kind": "command",
                  "shell": "echo $$ > new; mv new number; exec sleep 600" } ] }
                """#)
            let watch = try FolderWatch(workplace.path(""))
            let owner = try workplace.start("run", document, environment: ["PIPELINE_PLUGINS": Self.shippedPlugins])
            #expect(await watch.until { workplace.bytes(workplace.path("number")) != nil })
            let number = String(decoding: workplace.bytes(workplace.path("number")) ?? [], as: UTF8.self)
            let facts = "/proc/\(number.split(separator: "\n").first ?? "")/stat"
            func isRunning() -> Bool { TemporaryFolder.text(of: facts).map { !$0.contains(") Z") } ?? false }
            #expect(isRunning())
            owner.signal(SIGKILL)
            #expect(await owner.end.cause == .killed(9))
            let end = ContinuousClock.now + .seconds(20)
            while isRunning(), ContinuousClock.now < end { sched_yield() }
            #expect(!isRunning())
        }
    }

    private static var shippedPlugins: String {
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/Sources/pipeline/Plugins"
    }

    @Test("cancelled from another terminal, it gets its checkpoint to undo what it has begun")
    func cancelled() async throws {
        try await withWorkplace { workplace in
            let document = try prepare(workplace, hang: true)
            let watch = try FolderWatch(workplace.output)
            let program = try workplace.start(
                "run", document, "--output", workplace.output, environment: environment(workplace))
            #expect(await watch.until { lines("hanging", workplace).count == 1 })
            let told = try await workplace.run("cancel", "last", environment: environment(workplace))
            #expect(told.cause == .exited(0), "\(told)")
            #expect(await program.end.cause == .exited(1))
            #expect(try await workplace.show()["state"] == "cancelled")
            #expect(lines("cancelled", workplace) == [#"{"steps": 20}"#])
        }
    }
}
