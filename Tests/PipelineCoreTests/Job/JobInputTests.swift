import JSONPath
import Testing

@testable import PipelineCore

/// Every input in every state of a step: what becomes of the step, and what follows. A cell has the state after it, `=`
/// for the one before, and the commands besides the commit.
@Suite struct JobInputTests {
    static let table = """
        input | pending | running | waiting | unknown | succeeded | failed | cancelled | skipped
        created | = prepare | = | = | = | = | = | = | =
        takenUp | = | waiting | waiting | = | = | = | = | =
        takenUp failed | = | waiting | waiting | = | = | pending | pending | =
        takenUp from | = | pending | pending | pending | pending | pending | pending | pending
        advance | = prepare | = wait | = wait | = finish | = expect end:succeeded | = expect end:failed | = expect end:cancelled | = expect end:succeeded
        prepared | running call | = | = | = | = | = | = | =
        prepared not | failed | = | = | = | = | = | = | =
        prepared later | = | = | = | = | = | = | = | =
        prepared skipped | skipped | = | = | = | = | = | = | =
        cancelled | cancelled | cancelled | cancelled | cancelled | = | = | = | =
        finished | = | succeeded | = | = | = | = | = | =
        waiting | = | waiting | = | = | = | = | = | =
        waiting not | = | = | = | = | = | = | = | =
        unknown | = | unknown | = | = | = | = | = | =
        definite | = | failed | = | = | = | = | = | =
        answered | = | waiting | = | = | = | = | = | =
        silent | = | waiting | = | = | = | = | = | =
        secret | = | waiting | = | = | = | = | = | =
        held | = | waiting | = | = | = | = | = | =
        stopped | = | waiting | = | = | = | = | = | =
        saved | = | running | = | = | = | = | = | =
        heard | = | = | = | = | = | = | = | =
        authenticates | = enterAuthentication | = enterAuthentication | = enterAuthentication | = enterAuthentication | = enterAuthentication | = enterAuthentication | = enterAuthentication | = enterAuthentication
        delivered | = | = | = | = | = | = | = | =
        delaysReset | = | = | = | = | = | = | = | =
        inbox cancel | = | = | = | = | = | = | = | =
        inbox pause | = | = | = | = | = | = | = | =
        stop suspend | = | = | = | = | = | = | = | =
        stop leave | = | = | = | = | = | = | = | =
        stop cancel | = | = | = | = | = | = | = | =
        stop abandon | = | = | = | = | = | = | = | =
        notify | = | = | = | = | = | = | = | =
        secretMissing | = expect let-go:secret | waiting expect let-go:secret | = expect let-go:secret | = finish | = | = | = | =
        resolved found | - | - | - | waiting | - | - | - | -
        resolved resubmit | - | - | - | waiting | - | - | - | -
        resolved lookUp | - | - | - | waiting | - | - | - | -
        resolved abandon | - | - | - | failed | - | - | - | -
        removal | = | = | = | = | = | = | = | =
        broken | failed | failed | failed | = | = | = | = | =
        """

    private static let key = StepKey(stage: "a")
    private static let done = Result<Void, NotificationFailure>.success(())

    /// One input of each kind, and more of those that say more than one thing.
    static let inputs: [(name: String, input: JobInput)] = [
        ("created", .created(begins: true)), ("takenUp", .takenUp(.attached, .nothing)),
        ("takenUp failed", .takenUp(.attached, .failed)), ("takenUp from", .takenUp(.attached, .from("a"))),
        ("advance", .advance), ("prepared", .found(.preparation(key, .ready(tolerates: false, checkpoint: nil)))),
        ("prepared not", .found(.preparation(key, .failed(AttemptFailure(Samples.failure, kind: .definite))))),
        ("prepared later", .found(.preparation(key, .failed(AttemptFailure(Samples.failure, kind: .secret))))),
        ("prepared skipped", .found(.preparation(key, .skipped))),
        ("cancelled", .found(.cancellation(key, problem: nil))),
        ("finished", .ended(key, .finished(["x": 1]), StepNotes(), random: 0.5)),
        (
            "waiting",
            .ended(key, .waiting([], .at(Samples.now + .seconds(9)), WaitReason(.poll)), StepNotes(), random: 0.5)
        ),
        ("waiting not", .ended(key, .waiting([], .at(Samples.now), WaitReason(.poll)), StepNotes(), random: 0.5)),
        ("unknown", .ended(key, .unknown(nil, Samples.lost), StepNotes(), random: 0.5)),
        ("definite", failed(.definite)), ("answered", failed(.answered)), ("silent", failed(.silent)),
        ("secret", failed(.secret)), ("held", failed(.held(.closed))),
        ("stopped", .ended(key, .stopped, StepNotes(), random: 0.5)),
        (
            "saved",
            .saved(
                key, .progress(checkpoint: [1], captures: nil, isFarther: true, mayWait: false), StepNotes())
        ),
        ("heard", .heard(key, StepNotes())), ("authenticates", .authenticates(key)),
        ("delivered", .delivered("none", done, random: 0.5)), ("delaysReset", .delaysReset(pipeline: "selfie")),
        ("inbox cancel", .inbox(JobInbox(request: .cancel, pushes: [:]))),
        ("inbox pause", .inbox(JobInbox(request: .pause, pushes: [:]))),
        ("stop suspend", .stop(.suspend(.interrupted))),
        ("stop leave", .stop(.leave)), ("stop cancel", .stop(.cancel)), ("stop abandon", .stop(.abandon)),
        ("notify", .notify), ("secretMissing", .secretMissing("it is not set")),
        ("resolved found", .resolved(key, .found(["x": 1]))), ("resolved resubmit", .resolved(key, .resubmit)),
        ("resolved lookUp", .resolved(key, .lookUp)), ("resolved abandon", .resolved(key, .abandon)),
        ("removal", .removal), ("broken", .broken(key, Samples.failure)),
    ]

    private static func failed(_ kind: AttemptFailure.Kind) -> JobInput {
        .ended(key, .failed(AttemptFailure(Samples.failure, kind: kind)), StepNotes(), random: 0.5)
    }

    /// A submit is open where it is unknown.
    private static func submits(_ state: StepState) -> [StepKey: SubmitRecord] {
        guard case .unknown(_, let lost) = state else { return [:] }
        return [key: SubmitRecord(key: lost.key, generation: 1, digest: "", phase: .unknown)]
    }

    private static func cell(_ input: JobInput, _ before: StepState) throws -> String {
        var state = try JobStateTests.state(#"{ "id": "a", "kind": "step" }"#, ["a": before], submits: submits(before))
        let moment = JobMoment(Samples.now)
        do throws(IllegalTransition) {
            let commands = try state.apply(input, at: moment)
            let after = state.snapshot.steps[key]?.state
            let name = after == before ? "=" : after?.name.rawValue ?? "none"
            return ([name] + commands.compactMap(word)).joined(separator: " ")
        } catch {
            return "-"
        }
    }

    private static func word(_ command: JobCommand) -> String? {
        switch command {
        case .commit: nil
        case .finish(.ended(let phase)): "end:\(phase)"
        case .finish(.suspended(let cause)): "let-go:\(cause)"
        default: String("\(command)".prefix { $0 != "(" })
        }
    }

    private static func made() throws -> String {
        let header = "input | " + Samples.states.map(\.name.rawValue).joined(separator: " | ")
        let rows = try inputs.map { name, input in
            ([name] + (try Samples.states.map { try cell(input, $0) })).joined(separator: " | ")
        }
        return ([header] + rows).joined(separator: "\n")
    }

    @Test("each input does in each state what the table says")
    func law() throws {
        let made = try Self.made().split(separator: "\n")
        let table = Self.table.split(separator: "\n")
        for (number, line) in made.enumerated() {
            #expect(table.indices.contains(number) && table[number] == line, "\(line)")
        }
        #expect(made.count == table.count)
    }

    /// Every case is here: one that is added must be given a row.
    @Test("the table has every kind of input")
    func isWhole() {
        var kinds: Set<String> = []
        for (_, input) in Self.inputs {
            switch input {
            case .created: kinds.insert("created")
            case .takenUp: kinds.insert("takenUp")
            case .advance: kinds.insert("advance")
            case .found: kinds.insert("found")
            case .ended: kinds.insert("ended")
            case .saved: kinds.insert("saved")
            case .heard: kinds.insert("heard")
            case .authenticates: kinds.insert("authenticates")
            case .delivered: kinds.insert("delivered")
            case .delaysReset: kinds.insert("delaysReset")
            case .inbox: kinds.insert("inbox")
            case .stop: kinds.insert("stop")
            case .notify: kinds.insert("notify")
            case .secretMissing: kinds.insert("secretMissing")
            case .resolved: kinds.insert("resolved")
            case .removal: kinds.insert("removal")
            case .broken: kinds.insert("broken")
            }
        }
        #expect(kinds.count == 17)
        #expect(Self.inputs.count == Set(Self.inputs.map(\.name)).count)
    }
}
