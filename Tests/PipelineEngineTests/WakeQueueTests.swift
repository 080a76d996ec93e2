import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

@Suite struct WakeQueueTests {
    private func time(_ seconds: Int) -> Timestamp { Timestamp(milliseconds: Int64(seconds) * 1000) }

    @Test("jobs whose times lie within each other's tolerance are taken together, none before its time")
    func coalesces() {
        var queue = WakeQueue()
        queue.put(JobID("a"), earliest: time(10), latest: time(20))
        queue.put(JobID("b"), earliest: time(15), latest: time(40))
        queue.put(JobID("c"), earliest: time(21), latest: time(22))
        #expect(queue.nextTime() == time(20))
        #expect(queue.takeDue(at: time(19)).isEmpty)
        #expect(queue.takeDue(at: time(20)) == [JobID("a"), JobID("b")])
        #expect(queue.nextTime() == time(22))
        queue.remove(JobID("c"))
        #expect(queue.nextTime() == nil && queue.count == 0)
    }

    @Test("what is asked for last holds, however often it was asked before")
    func replaces() {
        var queue = WakeQueue()
        for second in (1...10_000).reversed() {
            queue.put(JobID("a"), earliest: time(second + 100), latest: time(second + 100))
        }
        #expect(queue.nextTime() == time(101) && queue.count == 1)
        queue.put(JobID("a"), earliest: time(500), latest: time(500))
        #expect(queue.takeDue(at: time(499)).isEmpty)
        #expect(queue.takeDue(at: time(500)) == [JobID("a")])
    }

    @Test("many jobs in any order come out in the order of their times")
    func sorts() {
        let random = SeededRandomness(seed: 7)
        var queue = WakeQueue()
        var times: [JobID: Timestamp] = [:]
        for index in 0..<2000 {
            let job = JobID("j\(index)")
            times[job] = time(random.number(in: 0...5000))
            queue.put(job, earliest: times[job] ?? .epoch, latest: times[job] ?? .epoch)
        }
        let order = queue.takeDue(at: time(6000)).compactMap { times[$0] }
        #expect(order.count == 2000 && order == order.sorted())
    }
}
