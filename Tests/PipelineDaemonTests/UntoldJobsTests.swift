import PipelineCore
import Testing

@testable import PipelineDaemon

@Suite("Jobs of which nobody has told") struct UntoldJobsTests {
    // Two workers delivered the same notification.
    @Test("are told of once they were found so for longer than who ends a job tells of it")
    func twoLooks() {
        let (one, two) = (JobID("one"), JobID("two"))
        var untold = UntoldJobs()
        #expect(untold.left(of: [one], at: .zero).isEmpty)
        #expect(untold.left(of: [], at: .seconds(1)).isEmpty)
        #expect(untold.left(of: [one, two], at: .seconds(5)).isEmpty)
        #expect(untold.left(of: [one, two], at: .seconds(10)).isEmpty)
        #expect(untold.left(of: [two], at: .seconds(11)) == [two])
        #expect(untold.left(of: [one, two], at: .seconds(12)) == [two])
    }
}
