import JSONPath
import Testing

@testable import PipelineCore

/// The parts of a job's law, each as a table of all that it can be asked: a row for each state, a column for each
/// question.
@Suite struct SubReducerTests {
    private static let key = StepKey(stage: "a")
    private static let stage = #"{ "id": "a", "kind": "step" }"#

    private static func table(
        _ stages: String, _ steps: [StepKey: StepRecord], submits: [StepKey: SubmitRecord] = [:],
        notifications: [NotificationRecord] = []
    ) throws -> JobTable {
        var snapshot = JobSnapshot(record: JobSnapshotTests.record, steps: steps, mode: .attached)
        snapshot.submits = submits
        for record in notifications { snapshot.notifications[record.id] = record }
        return JobTable(
            snapshot, plan: try JobStateTests.plan(stages), values: JobValues(environment: [:]),
            at: JobMoment(Samples.now))
    }

    private static func step(_ state: StepState, began: Bool = true) -> StepRecord {
        var step = StepRecord(state: state)
        if state != .pending, began { step.started = Samples.now + .seconds(-60) }
        if state.isEnded { step.ended = Samples.now + .seconds(-30) }
        step.attempts = state.attempt?.number ?? 1
        return step
    }

    /// Compares a table that was made with the one that is written here, line by line.
    private func expect(
        _ title: String, _ columns: [String], _ rows: [(String, [String])], is table: String,
        at place: Testing.SourceLocation = #_sourceLocation
    ) {
        let made = ([(title, columns)] + rows).map { ([$0] + $1).joined(separator: " | ") }
        let lines = table.split(separator: "\n").map(String.init)
        for (number, line) in made.enumerated() {
            #expect(lines.indices.contains(number) && lines[number] == line, "\(line)", sourceLocation: place)
        }
        #expect(lines.count == made.count, sourceLocation: place)
    }

    private static let names = Samples.states.map(\.name.rawValue)

    // MARK: StageDecision

    @Test("what a stage does next, by its own state and by that of the stage that it needs")
    func decisions() throws {
        let stages = #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "reads": "${{ stages.a.x }}" }"#
        let rows = try Samples.states.map { own in
            let cells = try Samples.states.map { need -> String in
                let table = try Self.table(
                    stages, [Self.key: Self.step(need), StepKey(stage: "b"): Self.step(own)])
                switch StageDecision.make(on: "b", in: table, FanOut(), isQuiet: true) {
                case .begin: return "begin"
                case .skip: return "skip"
                case .expand, .beginItems, .gather: return "items"
                case nil: return "-"
                }
            }
            return (own.name.rawValue, cells)
        }
        expect(
            "own", Self.names, rows,
            is: """
                own | pending | running | waiting | unknown | succeeded | failed | cancelled | skipped
                pending | - | - | - | - | begin | - | - | skip
                running | - | - | - | - | - | - | - | -
                waiting | - | - | - | - | - | - | - | -
                unknown | - | - | - | - | - | - | - | -
                succeeded | - | - | - | - | - | - | - | -
                failed | - | - | - | - | - | - | - | -
                cancelled | - | - | - | - | - | - | - | -
                skipped | - | - | - | - | - | - | - | -
                """)
    }

    // MARK: FanOut

    /// A repeated stage under way with one item that has succeeded and one in a state.
    private static func repeated(_ item: StepState, _ more: String = "") throws -> JobTable {
        let stage = #"{ "id": "a", "kind": "step", "forEach": "split('p,q', ',')"\#(more) }"#
        var second = step(item)
        second.value = "q"
        var first = step(.succeeded(["x": 1]))
        first.value = "p"
        first.captures = ["x": 1]
        return try table(
            stage,
            [
                key: step(.running(AttemptState())), StepKey(stage: "a", item: 0): first,
                StepKey(stage: "a", item: 1): second,
            ])
    }

    @Test("what a repeated stage does next, and comes to, by the state of its last item")
    func items() throws {
        let rows = try Samples.states.map { item in
            let settings = ["", #", "tolerate": 1"#, #", "stopOnFailure": true"#]
            let cells = try settings.flatMap { setting -> [String] in
                var table = try Self.repeated(item, setting)
                var fanOut = FanOut()
                let decision: String =
                    switch StageDecision.make(on: "a", in: table, fanOut, isQuiet: true) {
                    case .beginItems(let count): "begin \(count)"
                    case .gather: "gather"
                    case .expand: "expand"
                    case .begin, .skip: "wrong"
                    case nil: "-"
                    }
                guard let stage = table.plan.stage("a") else { return [] }
                switch fanOut.gather(stage, in: &table) {
                case .captures(let captures): return [decision, captures["x"]?.text ?? "nothing"]
                case .failure(let failure): return [decision, String(failure.title.prefix(13))]
                }
            }
            return (item.name.rawValue, cells)
        }
        expect(
            "item", ["next", "result", "tolerated", "result", "stopped", "result"], rows,
            is: """
                item | next | result | tolerated | result | stopped | result
                pending | begin 1 | not all items | begin 1 | not all items | begin 1 | not all items
                running | - | not all items | - | not all items | - | not all items
                waiting | - | not all items | - | not all items | - | not all items
                unknown | - | not all items | - | not all items | - | not all items
                succeeded | gather | [1,null] | gather | [1,null] | gather | [1,null]
                failed | gather | item 1: the s | gather | [1,null] | gather | item 1: the s
                cancelled | gather | [1,null] | gather | [1,null] | gather | [1,null]
                skipped | gather | [1,null] | gather | [1,null] | gather | [1,null]
                """)
    }

    @Test("items begin as far as there is room, and none after a failure that stops the stage")
    func room() throws {
        func decision(_ states: [StepState], _ settings: String) throws -> StageDecision? {
            let stage = #"{ "id": "a", "kind": "step", "forEach": "split('p,q', ',')"\#(settings) }"#
            var steps = [Self.key: Self.step(.running(AttemptState()))]
            for (item, state) in states.enumerated() { steps[StepKey(stage: "a", item: item)] = Self.step(state) }
            return StageDecision.make(on: "a", in: try Self.table(stage, steps), FanOut(), isQuiet: true)
        }
        let running = StepState.running(AttemptState())
        let two = #", "concurrency": 2"#
        #expect(try decision([.pending, .pending, .pending], two) == .beginItems(2))
        #expect(try decision([running, .pending, .pending], two) == .beginItems(1))
        #expect(try decision([running, Samples.states[2], .pending], two) == nil)
        let stops = #", "stopOnFailure": true"#
        #expect(try decision([.failed(Samples.failure), .pending], stops) == .gather)
        #expect(try decision([.failed(Samples.failure), .pending], "") == .beginItems(1))
    }

    // MARK: Renewal

    @Test("what a refusal is worth: fresh captures once, and again when bytes have moved")
    func renewals() throws {
        let stages = #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "renew": "a" }"#
        let other = StepKey(stage: "b")
        let columns = [
            "first", "expired", "renewed", "renewed, moved", "renewed, expired", "renewed 4 times, expired", "no renew",
        ]
        let statuses: [Int?] = [400, 401, 403, 404, 408, 410, 416, 500, nil]
        let rows = try statuses.map { status in
            let cells = try columns.map { column -> String in
                var source = Self.step(.succeeded(["x": 1]))
                if column.hasSuffix("expired") { source.expires = Samples.now }
                let renewals = column.contains("4") ? 4 : column.hasPrefix("renewed") ? 1 : 0
                let attempt = AttemptState(renewals: renewals)
                let plan = column == "no renew" ? stages.replacing(#", "renew": "a""#, with: "") : stages
                let table = try Self.table(plan, [Self.key: source, other: Self.step(.running(attempt))])
                guard let stage = table.plan.stage("b") else { return "no stage" }
                let failed = AttemptFailure(
                    StepFailure("t", status: status), kind: .definite, progressed: column.hasSuffix("moved"))
                return Renewal.isWorthIt(failed, other, stage, in: table) ? "renew" : "-"
            }
            return (status.map { "\($0)" } ?? "none", cells)
        }
        expect(
            "status", columns, rows,
            is: """
                status | first | expired | renewed | renewed, moved | renewed, expired | renewed 4 times, expired | no renew
                400 | - | renew | - | - | renew | - | -
                401 | renew | renew | - | renew | renew | - | -
                403 | renew | renew | - | renew | renew | - | -
                404 | renew | renew | - | renew | renew | - | -
                408 | - | renew | - | - | renew | - | -
                410 | renew | renew | - | renew | renew | - | -
                416 | - | renew | - | - | renew | - | -
                500 | - | - | - | - | - | - | -
                none | - | - | - | - | - | - | -
                """)
    }

    /// Of two items one began with what had expired, in the moment in which the other was called again: its request had
    /// nothing to read, and it failed for good.
    @Test("a step that runs reads what a stage gave until the fresh has come; a person's restart takes it away at once")
    func renewedCaptures() throws {
        let stages = #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "renew": "a" }"#
        let other = StepKey(stage: "b")
        let rows = [Self.key: Self.step(.succeeded(["x": 1])), other: Self.step(.running(AttemptState()))]
        var table = try Self.table(stages, rows)
        try Renewal.runAgain("a", in: &table)
        #expect(table.step(Self.key)?.state == .pending)
        #expect(table.scope(for: other).stages["a"] == ["x": 1])
        try table.change(Self.key, .started)
        #expect(table.scope(for: other).stages["a"] == ["x": 1])
        try table.change(Self.key, .finished(["x": 2]))
        #expect(table.scope(for: other).stages["a"] == ["x": 2])
        try Renewal.runAgain("a", in: &table)
        try table.change(Self.key, .started)
        try table.change(Self.key, .cancelled)
        #expect(table.scope(for: other).stages["a"] == nil)
        var restarted = try Self.table(stages, rows)
        try Restart(.from("a"), of: restarted).perform(.attached, in: &restarted)
        #expect(restarted.scope(for: other).stages["a"] == nil)
    }

    /// A repeated stage whose source has run again: one item has ended, one waits for that, one polls, one is to come.
    private static func renewed() throws -> (table: JobTable, items: [StepKey]) {
        let stages = #"""
            { "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "forEach": "stages.a.x", "renew": "a" }
            """#
        let states: [StepState] = [
            .succeeded([:]), .waiting(AttemptState(renewals: 1), .at(Samples.now), WaitReason(.renewal)),
            .waiting(AttemptState(), .at(Samples.now), WaitReason(.poll)), .pending,
        ]
        var steps = [
            key: step(.succeeded(["x": ["p", "q", "r", "s"]])), StepKey(stage: "b"): step(.running(AttemptState())),
        ]
        let items = states.indices.map { StepKey(stage: "b", item: $0) }
        for (item, state) in zip(items, states) {
            var record = step(state)
            record.value = "old"
            steps[item] = record
        }
        return (try table(stages, steps), items)
    }

    @Test("no item goes on before those that have not ended have their element of what is fresh")
    func renewedElements() throws {
        let made = try Self.renewed()
        var (table, fanOut) = (made.table, FanOut())
        let stage = try #require(table.plan.stage("b"))
        #expect(StageDecision.make(on: "b", in: table, fanOut, isQuiet: true) == .expand)
        let held = table.withIndex { $0.dueSteps(at: Samples.now) }
        #expect(held.isEmpty && fanOut.wantsElements(of: stage, in: table))
        let elements: [JSON] = ["p", "q", "r", "s"]
        try fanOut.expand(stage, ForEachItems(elements: elements, concurrencyLimit: nil), in: &table)
        let values = made.items.map { table.step($0)?.value ?? .null }
        #expect(values == ["old", "q", "r", "s"])
        let due = table.withIndex { $0.dueSteps(at: Samples.now) }
        #expect(due == [made.items[1], made.items[2]] && !fanOut.wantsElements(of: stage, in: table))
    }

    @Test("of an array of another length no item takes anything: what polls goes on, and no other begins")
    func otherLength() throws {
        let made = try Self.renewed()
        var (table, fanOut) = (made.table, FanOut())
        let stage = try #require(table.plan.stage("b"))
        try fanOut.expand(stage, ForEachItems(elements: ["r", "s"], concurrencyLimit: nil), in: &table)
        let states = made.items.map { table.step($0)?.state.name ?? .unknown }
        #expect(states == [.succeeded, .failed, .waiting, .pending])
        let values = made.items.map { table.step($0)?.value ?? .null }
        #expect(values == ["old", "old", "old", "old"])
        #expect(StageDecision.make(on: "b", in: table, fanOut, isQuiet: true) == nil)
        try table.change(made.items[2], .cancelled)
        guard case .failure(let failure) = fanOut.gather(stage, in: &table) else {
            Issue.record("the stage did not fail")
            return
        }
        #expect(failure.title == "'forEach' of stage 'b' gives 2 elements, and gave 4 when its items began")
    }

    /// The fresh link came, and its reader failed without having sent anything: "the submit was refused before".
    @Test("a submit that was refused may be sent again with what is fresh, and no other")
    func renewedSubmits() throws {
        let stages = #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "renew": "a" }"#
        let other = StepKey(stage: "b")
        let rows = [Self.key: Self.step(.succeeded(["x": 1])), other: Self.step(.running(AttemptState()))]
        for phase in SubmitRecord.Phase.allCases {
            var submit = SubmitRecord(key: "k", generation: 1, digest: "", phase: phase)
            submit.sends = 2
            var table = try Self.table(stages, rows, submits: [other: submit])
            let stage = try #require(table.plan.stage("b"))
            try Renewal.begin(other, stage, Samples.failure, began: Samples.now, StepNotes(), in: &table)
            let after = table.snapshot.submits[other]
            #expect(after?.phase == (phase == .refused ? .intent : phase))
            #expect(after?.sends == (phase == .refused ? 0 : 2))
        }
    }

    // MARK: Restart

    @Test("what becomes of a step and its submit when a job is taken up")
    func restarts() throws {
        let scopes: [(String, RestartScope)] = [("nothing", .nothing), ("failed", .failed), ("from", .from("a"))]
        let columns = scopes.flatMap { scope in ["failed, \(scope.0)", "running, \(scope.0)"] }
        let rows = try SubmitRecord.Phase.allCases.map { phase in
            let cells = try scopes.flatMap { _, scope in
                try [StepState.failed(Samples.failure), .running(AttemptState())].map { state -> String in
                    var submit = SubmitRecord(key: "k", generation: 1, digest: "", phase: phase)
                    submit.sends = 2
                    var table = try Self.table(Self.stage, [Self.key: Self.step(state)], submits: [Self.key: submit])
                    try Restart(scope, of: table).perform(.attached, in: &table)
                    let after = table.snapshot.submits[Self.key]
                    let isNew = after?.generation == 2 ? " again" : ""
                    let name = table.step(Self.key)?.state.name.rawValue ?? ""
                    return "\(name) \(after?.phase.rawValue ?? "")\(isNew) \(after?.sends ?? -1)"
                }
            }
            return (phase.rawValue, cells)
        }
        expect(
            "submit", columns, rows,
            is: """
                submit | failed, nothing | running, nothing | failed, failed | running, failed | failed, from | running, from
                intent | failed intent 2 | waiting intent 2 | pending intent 2 | waiting intent 2 | pending intent again 0 | pending intent again 0
                sending | failed sending 2 | waiting sending 2 | pending sending 2 | waiting sending 2 | pending sending 2 | pending intent again 0
                submitted | failed submitted 2 | waiting submitted 2 | pending submitted 2 | waiting submitted 2 | pending intent again 0 | pending intent again 0
                refused | failed refused 2 | waiting refused 2 | pending intent 0 | waiting refused 2 | pending intent again 0 | pending intent again 0
                unknown | failed unknown 2 | waiting unknown 2 | pending unknown 2 | waiting unknown 2 | pending intent again 0 | pending intent again 0
                """)
    }

    @Test("what is said of a submit of before when its stage is to begin as if it had never run")
    func leftBehind() throws {
        let states: [StepState] = [.running(AttemptState()), .failed(Samples.failure), .succeeded([:])]
        let rows = try SubmitRecord.Phase.allCases.map { phase in
            let cells = try states.map { state -> String in
                var step = Self.step(state)
                step.captures = ["x": "r7"]
                var table = try Self.table(
                    #"{ "id": "a", "kind": "remote" }"#, [Self.key: step],
                    submits: [Self.key: SubmitRecord(key: "k", generation: 1, digest: "", phase: phase)])
                let scope = RestartScope.from("a")
                let isOpen = table.snapshot.hasOpenSubmit(begunAnewBy: scope, in: table.plan)
                #expect(!table.snapshot.hasOpenSubmit(begunAnewBy: .failed, in: table.plan))
                try Restart(scope, of: table).perform(.attached, in: &table)
                let warnings = table.takeChanges().changes.compactMap { change -> String? in
                    guard case .event(let event) = change, event.kind == .stageWarned else { return nil }
                    return event.data["message"]?.string
                }
                let said = warnings.isEmpty ? "-" : String(warnings.joined().suffix(15))
                return isOpen ? "refused, \(said)" : said
            }
            return (phase.rawValue, cells)
        }
        expect(
            "submit", ["running", "failed", "succeeded"], rows,
            is: """
                submit | running | failed | succeeded
                intent | - | - | -
                sending | refused, n there goes on | - | -
                submitted | re (r7) goes on | re (r7) goes on | -
                refused | - | - | -
                unknown | refused, n there goes on | n there goes on | -
                """)
    }

    @Test("of items that failed only the one that is named begins again, with what failed for want of it")
    func oneItem() throws {
        let stages = #"""
            { "id": "c", "kind": "step" },
            { "id": "a", "kind": "step", "needs": [], "forEach": "split('p,q', ',')" },
            { "id": "b", "kind": "step", "needs": ["a"] }
            """#
        let failed = Self.step(.failed(Samples.failure))
        var steps = [Self.key: failed, StepKey(stage: "b"): failed, StepKey(stage: "c"): failed]
        for item in 0...1 { steps[StepKey(stage: "a", item: item)] = failed }
        func pending(_ scope: RestartScope) throws -> [String] {
            var table = try Self.table(stages, steps)
            try Restart(scope, of: table).perform(.attached, in: &table)
            return table.snapshot.steps.filter { $0.value.state == .pending }.map { "\($0.key)" }.sorted()
        }
        #expect(try pending(.failedItem(1)) == ["a", "a[1]", "b"])
        #expect(try pending(.failedItem(2)) == [])
        #expect(try pending(.failed) == ["a", "a[0]", "a[1]", "b", "c"])
    }

    /// It said the login's failure again, without having tried.
    @Test("with an item that begins again so does what it needs and what failed, but nothing else")
    func neededByItem() throws {
        let stages = #"""
            { "id": "login", "kind": "step" }, { "id": "x", "kind": "step", "needs": [] },
            { "id": "mask", "kind": "step", "needs": [], "continueOnFailure": true },
            { "id": "a", "kind": "step", "needs": ["login", "mask"], "forEach": "split('p,q', ',')" },
            { "id": "b", "kind": "step", "needs": ["a", "x"] }
            """#
        let failed = Self.step(.failed(Samples.failure))
        var steps = ["login", "x", "mask", "a", "b"].reduce(into: [:]) { $0[StepKey(stage: $1)] = failed }
        steps[StepKey(stage: "mask")]?.toleratesFailure = true
        for item in 0...1 { steps[StepKey(stage: "a", item: item)] = failed }
        var table = try Self.table(stages, steps)
        try Restart(.failedItem(1), of: table).perform(.attached, in: &table)
        let pending = table.snapshot.steps.filter { $0.value.state == .pending }.map { "\($0.key)" }.sorted()
        #expect(pending == ["a", "a[1]", "b", "login"])
    }

    @Test("where failed items were tolerated, their stage, what follows it and what reads it begin again with them")
    func tolerated() throws {
        let stages = #"""
            { "id": "c", "kind": "step", "needs": [] },
            { "id": "a", "kind": "step", "forEach": "split('p,q', ',')", "tolerate": 1 },
            { "id": "f", "kind": "step", "forEach": { "stage": "a" } },
            { "id": "b", "kind": "step", "needs": [], "reads": "${{ stages.a.x }}" },
            { "id": "d", "kind": "step", "needs": [], "reads": "${{ stages.b.x }}" },
            { "id": "e", "kind": "step", "needs": [], "forEach": "stages.a.x" },
            { "id": "g", "kind": "step", "needs": [], "forEach": "stages.a.x" }
            """#
        let done = Self.step(.succeeded([:]))
        var steps = ["a", "b", "c", "d", "e", "f"].reduce(into: [:]) { $0[StepKey(stage: $1)] = done }
        // Skipped for want of it.
        steps[StepKey(stage: "g")] = Self.step(.skipped)
        steps[StepKey(stage: "a", item: 0)] = done
        steps[StepKey(stage: "a", item: 1)] = Self.step(.failed(Samples.failure))
        steps[StepKey(stage: "f", item: 0)] = done
        for scope in [RestartScope.failed, .failedItem(1)] {
            var table = try Self.table(stages, steps)
            try Restart(scope, of: table).perform(.attached, in: &table)
            let pending = table.snapshot.steps.filter { $0.value.state == .pending }.map { "\($0.key)" }.sorted()
            #expect(pending == ["a", "a[1]", "b", "d", "e", "f", "g"])
        }
    }

    /// What had read them, and was paid for, was bought again by each resume.
    @Test("failures that are tolerated stay as they are where others made the job fail, unless what failed reads them")
    func toleratedBesideOthers() throws {
        let stages = #"""
            { "id": "a", "kind": "step", "forEach": "split('p,q', ',')", "tolerate": 1 },
            { "id": "b", "kind": "step", "reads": "${{ stages.a.x }}" },
            { "id": "c", "kind": "step", "reads": "${{ stages.b.x }}" }
            """#
        let (done, failed) = (Self.step(.succeeded([:])), Self.step(.failed(Samples.failure)))
        let items = [
            StepKey(stage: "a"): done, StepKey(stage: "a", item: 0): done, StepKey(stage: "a", item: 1): failed,
        ]
        func pending(_ others: [StepKey: StepRecord]) throws -> [String] {
            var table = try Self.table(stages, items.merging(others) { $1 })
            try Restart(.failed, of: table).perform(.attached, in: &table)
            return table.snapshot.steps.filter { $0.value.state == .pending }.map { "\($0.key)" }.sorted()
        }
        #expect(try pending([StepKey(stage: "b"): done, StepKey(stage: "c"): failed]) == ["c"])
        #expect(try pending([StepKey(stage: "b"): failed]) == ["a", "a[1]", "b"])
        #expect(try pending([StepKey(stage: "b"): done, StepKey(stage: "c"): done]) == ["a", "a[1]", "b", "c"])
    }

    @Test("a submit that was cancelled at its service is a new one when the step begins again")
    func cancelled() throws {
        let columns = ["cancelled", "not told", "goes on there"]
        let rows = try SubmitRecord.Phase.allCases.map { phase in
            let cells = try columns.map { column -> String in
                let submit = SubmitRecord(key: "k", generation: 1, digest: "", phase: phase)
                let kind = column == "goes on there" ? "step" : "remote"
                let stage = #"{ "id": "a", "kind": "\#(kind)" }"#
                var running = Self.step(.running(AttemptState()))
                running.checkpoint = [1]
                let table = try Self.table(stage, [Self.key: running], submits: [Self.key: submit])
                var state = JobState(table, settings: JobSettings(), marks: EstimateMarks())
                let problem = column == "not told" ? "no answer" : nil
                _ = try state.apply(.found(.cancellation(Self.key, problem: problem)), at: JobMoment(Samples.now))
                let after = state.snapshot.submits[Self.key]
                let checkpoint = state.snapshot.steps[Self.key]?.checkpoint == nil ? "" : " kept"
                return "\(after?.phase.rawValue ?? "") \(after?.generation ?? 0)\(checkpoint)"
            }
            return (phase.rawValue, cells)
        }
        expect(
            "submit", columns, rows,
            is: """
                submit | cancelled | not told | goes on there
                intent | intent 2 | intent 1 kept | intent 1 kept
                sending | intent 2 | sending 1 kept | sending 1 kept
                submitted | intent 2 | submitted 1 kept | submitted 1 kept
                refused | intent 2 | refused 1 kept | refused 1 kept
                unknown | intent 2 | unknown 1 kept | unknown 1 kept
                """)
    }

    // MARK: BackgroundRules

    @Test("what is known of getting control back, by what came before")
    func watches() {
        let other = StepKey(stage: "b")
        let later = Samples.now + .seconds(60)
        let situations: [(String, (inout ResumeWatch) -> Void)] = [
            ("nothing", { _ in }),
            ("opened", { _ = $0.open(Self.key, .poll, waited: .zero) }),
            (
                "entered",
                { watch in
                    watch.open(Self.key, .poll, waited: .zero)
                    _ = watch.takeUnentered()
                }
            ),
            (
                "entered, a call inside",
                { watch in
                    watch.open(Self.key, .poll, waited: .zero)
                    _ = watch.takeUnentered()
                    watch.inside.insert(Self.key)
                }
            ),
            ("held", { $0.heldUntil = later }), ("a condition", { $0.conditions[Self.key] = later }),
            (
                "held and released",
                { watch in
                    watch.heldUntil = later
                    watch.conditions[Self.key] = later
                    watch.release()
                }
            ),
        ]
        let rows = situations.map { name, prepare -> (String, [String]) in
            var watch = ResumeWatch()
            prepare(&watch)
            var settled = watch
            settled.settle()
            var opened = watch
            let opens = opened.open(other, .poll, waited: .zero)
            var counted = watch
            let counts = [
                counted.takeCount(of: other), counted.takeCount(of: Self.key), counted.takeCount(of: Self.key),
            ]
            let next = watch.next(Samples.now + .seconds(10), at: Samples.now).map { ($0 - Samples.now).seconds }
            return (
                name,
                [
                    "\(opens)", "\(settled.isOpen)", counts.map { "\($0)" }.joined(), "\(watch.isHeldBack)",
                    "\(watch.isAtRest)", next.map { "\(Int($0))" } ?? "-", watch.held(Self.key) == nil ? "no" : "yes",
                ]
            )
        }
        expect(
            "after", ["opens", "open when settled", "counts", "held back", "at rest", "next", "holds a"], rows,
            is: """
                after | opens | open when settled | counts | held back | at rest | next | holds a
                nothing | true | false | 000 | false | true | 10 | no
                opened | false | true | 010 | false | false | 10 | no
                entered | false | false | 010 | false | false | 10 | no
                entered, a call inside | false | true | 010 | false | false | 10 | no
                held | true | false | 000 | true | false | 60 | yes
                a condition | true | false | 000 | true | false | 10 | yes
                held and released | true | false | 000 | false | true | 10 | no
                """)
    }

    // MARK: NotificationQueue

    @Test("what becomes of a notification that a sink was given")
    func notifications() throws {
        let results: [(String, Result<Void, NotificationFailure>, Bool)] = [
            ("taken", .success(()), false), ("taken, over", .success(()), true),
            ("busy", .failure(NotificationFailure("busy", isRetryable: true)), false),
            ("busy, over", .failure(NotificationFailure("busy", isRetryable: true)), true),
            ("refused", .failure(NotificationFailure("no", isRetryable: false)), false),
        ]
        let plan = Self.stage + #"], "notify": [ { "on": ["succeeded"], "desktop": true } "#
        let rows = try [NotificationRecord.State.planned, .due, .sent, .withdrawn, .abandoned].map { before in
            let cells = try results.map { _, result, isOver -> String in
                let record = NotificationRecord(
                    id: "n", entry: 0, event: .succeeded, state: before, due: Samples.now, time: Samples.now, title: "t"
                )
                var table = try Self.table(plan, [Self.key: Self.step(.pending)], notifications: [record])
                var queue = NotificationQueue(table, hasSinks: true)
                let isGiven = !queue.takeDue(table).isEmpty
                let isOnce = queue.takeDue(table).isEmpty
                queue.delivered("n", result, random: 0.5, isOver: isOver, in: &table)
                let after = table.snapshot.notifications["n"]
                let (changes, _) = table.takeChanges()
                let tells = changes.contains {
                    if case .event(let event) = $0 { event.kind == .notificationSent } else { false }
                }
                return [
                    isGiven ? "given" : "kept", isOnce ? "" : "twice", after?.state.rawValue ?? "",
                    tells ? "told" : "", (after?.failures ?? 0) > 0 ? "counted" : "",
                ].filter { !$0.isEmpty }.joined(separator: " ")
            }
            return (before.rawValue, cells)
        }
        expect(
            "row", results.map(\.0), rows,
            is: """
                row | taken | taken, over | busy | busy, over | refused
                planned | given sent told | given sent told | given due counted | given withdrawn counted | given abandoned counted
                due | given sent told | given sent told | given due counted | given due counted | given abandoned counted
                sent | kept sent | kept sent | kept sent | kept sent | kept sent
                withdrawn | kept withdrawn | kept withdrawn | kept withdrawn | kept withdrawn | kept withdrawn
                abandoned | kept abandoned | kept abandoned | kept abandoned | kept abandoned | kept abandoned
                """)
    }

    // MARK: EstimateMarks

    @Test("which steps add to the history of durations")
    func samples() throws {
        let columns = ["first try", "third try", "never marked"]
        let rows = try Samples.states.map { state in
            let cells = try columns.map { column -> String in
                var step = Self.step(state)
                step.attempts = column == "third try" ? 3 : 1
                let table = try Self.table(Self.stage, [Self.key: step])
                var marks = EstimateMarks()
                if column != "never marked" { marks.begin(Self.key, at: Samples.now + .seconds(-50)) }
                let sample = marks.takeSample(of: Self.key, in: table)
                return (sample.map { "\(Int($0.seconds)) s" } ?? "-") + (marks.steps.isEmpty ? "" : " kept")
            }
            return (state.name.rawValue, cells)
        }
        expect(
            "state", columns, rows,
            is: """
                state | first try | third try | never marked
                pending | - | - | -
                running | - | - | -
                waiting | - | - | -
                unknown | - | - | -
                succeeded | 60 s | - | -
                failed | - | - | -
                cancelled | - | - | -
                skipped | - | - | -
                """)
    }

    // MARK: JobEnding

    @Test("how a job rests, is let go and is cancelled, by the state of its step")
    func endings() throws {
        let rows = try Samples.states.map { state in
            let before = try Self.table(Self.stage, [Self.key: Self.step(state)])
            let rest = before.rest.map { "\($0)".replacing("PipelineCore.JobPhase.", with: "") } ?? "-"
            func after(_ work: (inout JobTable) throws -> [JobCommand]) throws -> String {
                var table = before
                let asks = try work(&table).contains { if case .cancelAtService = $0 { true } else { false } }
                let name = table.step(Self.key)?.state.name.rawValue ?? ""
                return asks ? "asks its service" : name == state.name.rawValue ? "=" : name
            }
            return (
                state.name.rawValue,
                [
                    rest, try after { try JobEnding.letGo(.paused, detail: nil, in: &$0) },
                    try after { try JobEnding.cancelSteps(finallyToo: true, tellsServices: true, in: &$0) },
                    try after { try JobEnding.cancelSteps(finallyToo: true, tellsServices: false, in: &$0) },
                ]
            )
        }
        expect(
            "state", ["rests as", "let go", "cancelled", "abandoned"], rows,
            is: """
                state | rests as | let go | cancelled | abandoned
                pending | ended(succeeded) | = | cancelled | cancelled
                running | - | waiting | asks its service | cancelled
                waiting | - | = | asks its service | cancelled
                unknown | unknown | = | asks its service | cancelled
                succeeded | ended(succeeded) | = | = | =
                failed | ended(failed) | = | = | =
                cancelled | ended(cancelled) | = | = | =
                skipped | ended(succeeded) | = | = | =
                """)
    }

    /// A retry that was cancelled before it began left the upload of the attempt before at the service.
    @Test("a step that is to begin again is cancelled at the service that has what it had begun")
    func cancelledBeforeItBeginsAgain() throws {
        var step = Self.step(.pending)
        (step.started, step.checkpoint) = (nil, [1])
        var table = try Self.table(Self.stage, [Self.key: step])
        let commands = try JobEnding.cancelSteps(finallyToo: true, tellsServices: true, in: &table)
        #expect(commands.contains { if case .cancelAtService(Self.key) = $0 { true } else { false } })
    }
}
