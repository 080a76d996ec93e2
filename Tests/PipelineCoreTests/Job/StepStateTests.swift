import JSONPath
import PipelineCore
import Testing

/// The law of change, pair by pair.
@Suite struct StepStateTests {
    /// Each cell: the state after the event, and the events that tell of it; `-` is illegal, `=` changes and tells nothing.
    static let table = """
        event       | pending | running           | waiting         | unknown  | succeeded | failed  | cancelled | skipped
        started     | running started | -         | -               | -        | -         | -       | -         | -
        progressed  | -       | running           | -               | -        | -         | -       | -         | -
        finished    | -       | succeeded succeeded | -             | -        | -         | -       | -         | -
        parked      | -       | waiting waiting   | -               | -        | -         | -       | -         | -
        woken       | -       | -                 | running resumed | -        | -         | -       | -         | -
        answered    | -       | waiting attempt waiting | -         | -        | -         | -       | -         | -
        definite    | -       | failed failed     | -               | -        | -         | -       | -         | -
        noSecret    | -       | waiting attempt   | -               | -        | -         | -       | -         | -
        renewed     | -       | waiting attempt waiting | -         | -        | -         | -       | -         | -
        lostTrack   | -       | unknown unknown   | -               | -        | -         | -       | -         | -
        resolved    | -       | -                 | -               | waiting  | -         | -       | -         | -
        abandoned   | -       | -                 | -               | failed failed | -    | -       | -         | -
        interrupted | -       | waiting           | -               | -        | -         | -       | -         | -
        takenUp     | =       | waiting           | waiting         | =        | =         | =       | =         | =
        clockSet    | =       | running           | waiting         | unknown  | =         | =       | =         | =
        cancelled   | cancelled cancelled | cancelled cancelled | cancelled cancelled | cancelled cancelled | - | - | - | -
        skipped     | skipped skipped | -         | -               | -        | -         | -       | -         | -
        refused     | failed failed | -           | -               | -        | -         | -       | -         | -
        retried     | -       | -                 | -               | -        | -         | pending | pending   | -
        renewing    | -       | -                 | -               | -        | pending   | -       | -         | -
        restarted   | =       | pending           | pending         | pending  | pending   | pending | pending   | pending
        """

    struct Cell: Sendable, CustomTestStringConvertible {
        let state: StepState
        let event: String
        let expected: [String]
        var testDescription: String { "\(event) of \(state.name.rawValue): \(expected.joined(separator: " "))" }
    }

    static let cells: [Cell] = table.split(separator: "\n").dropFirst().flatMap { line -> [Cell] in
        let columns = line.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
        return zip(Samples.states, columns.dropFirst()).map { Cell(state: $0, event: columns[0][0], expected: $1) }
    }

    @Test("the table has every pair of state and event")
    func isWhole() {
        #expect(Set(Self.cells.map(\.event)) == Set(Samples.events.keys))
        #expect(Self.cells.count == Samples.events.count * StepState.Name.allCases.count)
        #expect(Set(Samples.states.map(\.name)) == Set(StepState.Name.allCases))
    }

    @Test("each pair of state and event does what the table says", arguments: cells)
    func law(cell: Cell) throws {
        let event = try #require(Samples.events[cell.event])
        do throws(IllegalTransition) {
            let next = try cell.state.apply(event, at: Samples.now)
            if cell.expected == ["="] {
                #expect(next.state == cell.state && next.events.isEmpty)
            } else {
                #expect([next.state.name.rawValue] + next.events.map(Samples.word) == cell.expected)
            }
        } catch {
            #expect(cell.expected == ["-"], "\(error)")
            #expect(error.state == cell.state.name && error.event == event.name)
        }
    }

    @Test("a wait that its service or author set is kept by a new owner, others end at once")
    func takenUp() throws {
        let later = Samples.now + .seconds(60)
        for kind in WaitReason.Kind.allCases {
            let state = StepState.waiting(AttemptState(), .at(later), WaitReason(kind))
            let taken = try state.apply(.takenUp, at: Samples.now).state
            let isKept = [.time, .settle, .refused, .closed, .full].contains(kind)
            var attempt = AttemptState()
            attempt.takenUp = kind == .interrupted ? Samples.now : nil
            #expect(taken == .waiting(attempt, .at(isKept ? later : Samples.now), WaitReason(kind)), "\(kind)")
            if kind == .interrupted { attempt.takenUp = later }
            let resumed = try StepState.waiting(AttemptState(), .resume, WaitReason(kind)).apply(
                .takenUp, at: later
            ).state
            #expect(resumed == .waiting(attempt, .at(later), WaitReason(kind)))
        }
    }

    @Test("only a wait between tries makes the next call a new try")
    func numbering() throws {
        for kind in WaitReason.Kind.allCases {
            let state = StepState.waiting(AttemptState(number: 4), .at(Samples.now), WaitReason(kind))
            let woken = try state.apply(.woken, at: Samples.now).state
            let isNew = [.retry, .refused, .interrupted, .noAnswer, .secret, .renewal].contains(kind)
            #expect(woken.attempt?.number == (isNew ? 5 : 4), "\(kind)")
        }
    }

    @Test("each renewal after a refusal is counted; what was not sent, as it was over, has failed at nothing")
    func renewing() throws {
        var state = StepState.running(AttemptState())
        let unsent = try state.apply(.renewed(StepFailure("it expired")), at: Samples.now)
        #expect(unsent.state.attempt?.renewals == 0 && unsent.state.attempt?.unsent == 1)
        #expect(unsent.events.map(\.kind) == [.stageWaiting])
        for count in 1...2 {
            state = try state.apply(.renewed(Samples.failure), at: Samples.now).state
            #expect(state.attempt?.renewals == count)
            state = try state.apply(.woken, at: Samples.now).state
            #expect(state.attempt?.renewals == count)
        }
    }

    @Test("a state comes back from its name and its detail", arguments: Samples.states + Samples.moreStates)
    func roundTrip(state: StepState) throws {
        let text = state.detail.text
        #expect(StepState(name: state.name, detail: try JSON.parse(text)) == state)
    }

    @Test("a name and a detail that do not fit are no state")
    func damaged() {
        #expect(StepState(name: .running, detail: .null) == nil)
        #expect(StepState(name: .waiting, detail: ["tries": ["number": 1]]) == nil)
        #expect(
            StepState(name: .waiting, detail: ["tries": ["number": 1], "wake": 7, "reason": ["kind": "poll"]]) == nil)
        #expect(StepState(name: .unknown, detail: ["tries": ["number": 1], "submit": [:]]) == nil)
        #expect(StepState(name: .succeeded, detail: []) == nil)
    }
}
