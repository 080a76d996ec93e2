import JSONPath
import PipelineCore
import Testing

/// When a failed try is repeated, and when no more.
@Suite struct RetryLawTests {
    private let now = Samples.now

    private func next(
        _ attempt: AttemptState, _ failed: AttemptFailure, _ policy: RetryPolicy, after seconds: Int = 0,
        random: Double = 1
    ) throws -> StepState {
        try StepState.running(attempt).apply(.tryFailed(failed, policy, random: random), at: now + .seconds(seconds))
            .state
    }

    private func failed(_ kind: AttemptFailure.Kind, retryAfter: Duration? = nil, progressed: Bool = false)
        -> AttemptFailure
    {
        AttemptFailure(Samples.failure, kind: kind, retryAfter: retryAfter, progressed: progressed)
    }

    /// The states that one failure after the other leads to, each woken at its time.
    private func run(_ kinds: [AttemptFailure.Kind], _ policy: RetryPolicy) throws -> [StepState] {
        var attempt = AttemptState()
        var time = now
        var states: [StepState] = []
        for kind in kinds {
            let state = try StepState.running(attempt).apply(.tryFailed(failed(kind), policy, random: 1), at: time)
                .state
            states.append(state)
            guard case .waiting(let waiting, .at(let wake), _) = state else { break }
            attempt = waiting.next
            time = wake
        }
        return states
    }

    @Test("answers that failed are counted, and the last allowed one fails the step")
    func attempts() throws {
        let states = try run(Array(repeating: .answered, count: 9), RetryPolicy(attempts: 4))
        #expect(states.map(\.name) == [.waiting, .waiting, .waiting, .failed])
    }

    @Test("attempt without an answer are never counted, only their time is")
    func noResponseCount() throws {
        let policy = RetryPolicy(attempts: 2, duration: .seconds(100), delay: .seconds(30), factor: 1)
        let states = try run(Array(repeating: .silent, count: 9), policy)
        #expect(states.map(\.name) == [.waiting, .waiting, .waiting, .waiting])
        #expect(
            states.last
                == .waiting(AttemptState(number: 4), .resume, WaitReason(.noAnswer, detail: Samples.failure.title)))
    }

    @Test("when the time for silence is over the job is suspended for want of a network")
    func noNetwork() throws {
        let policy = RetryPolicy(attempts: 1, duration: .seconds(60))
        let attempt = AttemptState(number: 7, noResponseCount: 6, failingSince: now)
        let state = try next(attempt, failed(.silent), policy, after: 60)
        guard case .waiting(_, .resume, let reason) = state else { return #expect(Bool(false), "\(state)") }
        #expect(reason.kind == .noAnswer)
    }

    @Test("an answer after the time for failing fails the step, however few there were")
    func overdueAnswer() throws {
        let policy = RetryPolicy(attempts: 50, duration: .seconds(60))
        let state = try next(AttemptState(failingSince: now), failed(.answered), policy, after: 61)
        #expect(state.name == .failed)
    }

    @Test("silent attempt do not use up the attempts of answers")
    func mixed() throws {
        let states = try run([.silent, .silent, .answered, .silent, .answered], RetryPolicy(attempts: 2))
        #expect(states.map(\.name) == [.waiting, .waiting, .waiting, .waiting, .failed])
    }

    @Test("Retry-After is a floor that is only spread upward")
    func floor() throws {
        for random in [0, 0.5, 0.999] {
            let state = try next(
                AttemptState(), failed(.answered, retryAfter: .seconds(40)), RetryPolicy(), random: random)
            guard case .waiting(_, .at(let wake), let reason) = state else { return #expect(Bool(false), "\(state)") }
            #expect(wake >= now + .seconds(40))
            #expect(wake <= now + .seconds(40 + 0.1))
            #expect(reason.kind == .refused)
        }
    }

    /// A service that answered 503 with "Retry-After: 0" was asked five times within a second, and the step had failed.
    @Test("a Retry-After that is shorter than the delay without it changes nothing", arguments: 1...5)
    func shortFloor(count: Int) {
        let delays = [nil, .zero].map { RetryPolicy().delay(afterFailures: count, floor: $0, random: 0.7) }
        #expect(delays[0] == delays[1])
    }

    @Test("a Retry-After beyond the time for failing is waited for, and what fails after it fails the step")
    func longFloor() throws {
        let policy = RetryPolicy(attempts: 5, duration: .seconds(60))
        let state = try next(
            AttemptState(failures: 1, failingSince: now), failed(.answered, retryAfter: .seconds(600)), policy,
            after: 30, random: 0)
        guard case .waiting(_, .at(let wake), let reason) = state else { return #expect(Bool(false), "\(state)") }
        #expect(wake == now + .seconds(630) && reason.kind == .refused)
        let later = try next(
            AttemptState(failures: 2, failingSince: now), failed(.answered, retryAfter: .seconds(600)), policy,
            after: 631)
        #expect(later.name == .failed)
    }

    @Test("bytes that moved forget earlier failures before the new one is counted")
    func progress() throws {
        let worn = AttemptState(number: 9, failures: 4, noResponseCount: 7, failingSince: now + .seconds(-86_399))
        let state = try next(worn, failed(.answered, progressed: true), RetryPolicy(attempts: 2))
        let expected = AttemptState(number: 9, failures: 1, noResponseCount: 0, failingSince: now)
        #expect(state.attempt == expected)
        let running = try StepState.running(worn).apply(.progressed, at: now).state
        #expect(running == .running(AttemptState(number: 9)))
    }

    @Test("delays grow by the factor up to the maximum, and full jitter stays within them")
    func delays() {
        let policy = RetryPolicy(delay: .seconds(2), factor: 3, maximum: .seconds(30))
        let whole = (1...5).map { policy.delay(afterFailures: $0, floor: nil, random: 1) }
        #expect(whole == [.seconds(2), .seconds(6), .seconds(18), .seconds(30), .seconds(30)])
        for count in 1...5 {
            for random in stride(from: 0, to: 1, by: 0.05) {
                let delay = policy.delay(afterFailures: count, floor: nil, random: random)
                #expect(delay > .zero && delay <= whole[count - 1])
            }
        }
        #expect(policy.delay(afterFailures: 1, floor: nil, random: 0) == .milliseconds(10))
    }

    @Test("without jitter the delay is itself, whatever the random number")
    func noJitter() {
        let policy = RetryPolicy(delay: .seconds(4), jitter: .none)
        #expect(policy.delay(afterFailures: 2, floor: nil, random: 0.1) == .seconds(8))
    }

    @Test("thousands of failures in a row overflow nothing")
    func many() {
        let policy = RetryPolicy(delay: .seconds(1), factor: 100, maximum: .seconds(300), jitter: .none)
        #expect(policy.delay(afterFailures: 100_000, floor: nil, random: 0) == .seconds(300))
    }

    @Test("a missing secret counts nothing and waits for a person")
    func secret() throws {
        let state = try next(AttemptState(number: 3), failed(.secret), RetryPolicy(attempts: 1))
        guard case .waiting(let attempt, .resume, let reason) = state else { return #expect(Bool(false), "\(state)") }
        #expect(attempt.failures == 0 && attempt.noResponseCount == 0 && reason.kind == .secret)
    }
}
