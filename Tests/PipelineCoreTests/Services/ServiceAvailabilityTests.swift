import PipelineCore
import Testing

/// The law of one service that says "not now".
@Suite("A service's availability")
struct ServiceAvailabilityTests {
    private let id = ServiceID("a")
    private let now = Timestamp(milliseconds: 1_000_000)

    private func record(
        _ answer: ServiceAnswer, in service: inout ServiceAvailability, isTrial: Bool = false, at time: Timestamp
    ) -> ServiceAvailability.Change {
        service.record(answer, of: id, named: "api", isTrial: isTrial, at: time)
    }

    @Test("an answer that names a time closes it until then, and those who wait have turns of their own")
    func named() throws {
        var service = ServiceAvailability()
        #expect(service.admission(at: now) == .open)
        let change = record(ServiceAnswer(status: 503, retryAfter: .seconds(60)), in: &service, at: now)
        #expect(change == .close(try #require(service.closed)))
        #expect(service.admission(at: now) == .closed(until: now + .seconds(60)))
        #expect(service.admission(at: now) == .closed(until: now + .seconds(60) + .milliseconds(20)))
        #expect(service.admission(at: now + .seconds(60)) == nil, "a trial is due")
    }

    @Test("three 429 in a row without a time close it, for twice as long after each trial that is refused")
    func unnamed() {
        var service = ServiceAvailability()
        let tooMany = ServiceAnswer(status: 429, retryAfter: .zero)
        #expect(record(tooMany, in: &service, at: now) == .nothing)
        #expect(record(tooMany, in: &service, at: now) == .nothing)
        #expect(record(.taken, in: &service, at: now) == .nothing)
        for _ in 1...2 { #expect(record(tooMany, in: &service, at: now) == .nothing) }
        _ = record(tooMany, in: &service, at: now)
        var time = now
        for seconds in [1, 2, 4, 8] {
            #expect(service.closed?.opens(at: time) == time + .seconds(seconds))
            time = time + .seconds(seconds)
            #expect(service.admission(at: time) == nil)
            service.beginTrial(until: time + .seconds(30))
            _ = record(tooMany, in: &service, isTrial: true, at: time)
        }
        for _ in 1...20 { _ = record(tooMany, in: &service, isTrial: true, at: time) }
        #expect(service.closed?.opens(at: time) == time + .seconds(300), "never for longer by itself")
    }

    /// Forty jobs over a quota of ten: each wave of them cost two of their attempts, until there were none left.
    @Test("for a minute after it was closed the first 429 without a time closes it again, in each process")
    func waves() throws {
        let tooMany = ServiceAnswer(status: 429, retryAfter: nil)
        var service = ServiceAvailability()
        for _ in 1...3 { _ = record(tooMany, in: &service, at: now) }
        var other = ServiceAvailability()
        other.replace(with: service.closed, at: now)
        var time = now
        for _ in 1...5 {
            time = try #require(service.closed).until
            #expect(record(.taken, in: &service, isTrial: true, at: time) == .open)
            #expect(record(.taken, in: &service, at: time) == .nothing)
            let change = record(tooMany, in: &service, at: time)
            #expect(change == .close(try #require(service.closed)))
            #expect(service.closed?.until == time + .seconds(1), "it took something in between")
        }
        time = time + .seconds(1)
        #expect(record(.taken, in: &service, isTrial: true, at: time) == .open)
        #expect(record(tooMany, in: &service, at: time + .seconds(61)) == .nothing, "that was long ago")
        other.replace(with: nil, at: now + .seconds(1))
        var earlier = other
        #expect(record(tooMany, in: &other, at: now + .seconds(2)) != .nothing)
        #expect(record(tooMany, in: &earlier, at: now - .seconds(900)) == .nothing, "the clock was set back")
    }

    /// Its waits are the same as ever: it is never open in between.
    @Test("a job that is alone with a service that always answers 429 has two attempts before it waits at no cost")
    func alone() {
        let tooMany = ServiceAnswer(status: 429, retryAfter: nil)
        var service = ServiceAvailability()
        var time = now
        var free = 0
        for _ in 1...6 {
            let isTrial = service.admission(at: time) == nil
            if record(tooMany, in: &service, isTrial: isTrial, at: time) != .nothing { free += 1 }
            time = service.closed?.until ?? time + .seconds(1)
        }
        #expect(free == 4)
        #expect(time == now + .seconds(2 + 1 + 2 + 4 + 8))
    }

    @Test("only a trial opens it: an answer to what was under way before says nothing")
    func late() {
        var service = ServiceAvailability()
        _ = record(.closed(.seconds(60)), in: &service, at: now)
        #expect(record(.taken, in: &service, at: now) == .nothing)
        #expect(service.closed != nil)
        #expect(record(.closed(.seconds(60)), in: &service, at: now + .milliseconds(100)) == .nothing)
        #expect(service.closed?.closings == 1, "requests that were under way together count once")
        #expect(record(.closed(.seconds(90)), in: &service, at: now) != .nothing, "a longer time holds")
        #expect(record(.taken, in: &service, isTrial: true, at: now + .seconds(90)) == .open)
        #expect(service.admission(at: now + .seconds(90)) == .open)
    }

    @Test("while a trial is under way nobody else goes; without an answer another one tries")
    func trial() {
        var service = ServiceAvailability()
        _ = record(.closed(.seconds(60)), in: &service, at: now)
        let open = now + .seconds(60)
        service.beginTrial(until: open + ServiceAvailability.trialLength)
        guard case .closed = service.admission(at: open) else { return #expect(Bool(false), "not held") }
        #expect(service.admission(at: open + .seconds(30)) == nil, "its process may have died")
        _ = record(.nothing, in: &service, isTrial: true, at: open)
        #expect(service.admission(at: open + .seconds(1)) == nil)
    }

    /// It was closed for its whole length from each moment on that it was asked for, until the clock had caught up.
    @Test("after a clock was set back a trial finds out at once, and those who wait for it wait no longer than else")
    func clock() {
        var service = ServiceAvailability()
        _ = record(.closed(.seconds(60)), in: &service, at: now)
        guard case .closed = service.admission(at: now) else { return #expect(Bool(false), "not closed") }
        let earlier = now - .seconds(900)
        #expect(service.admission(at: earlier) == nil)
        service.beginTrial(until: earlier + ServiceAvailability.trialLength)
        #expect(service.admission(at: earlier) == .closed(until: earlier + .seconds(1)))
        _ = record(.closed(.seconds(60)), in: &service, isTrial: true, at: earlier)
        #expect(service.admission(at: earlier) == .closed(until: earlier + .seconds(60)))
        #expect(service.admission(at: earlier + .seconds(60)) == nil)
    }
}
