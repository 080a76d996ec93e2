import JSONPath
import PipelineTestKit
import Testing

extension Workplace {
    /// The job's journaled events are numbered from 1 without gaps, and belong to one job.
    func checkEvents(_ job: String = "last", sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let events = try await events(job)
        let numbers = events.compactMap { $0["seq"]?.number?.int }
        #expect(numbers == Array(1..<numbers.count + 1), sourceLocation: sourceLocation)
        #expect(Set(events.compactMap { $0["job"]?.string }).count == 1, sourceLocation: sourceLocation)
        #expect(events.first?["type"] == "job.started", sourceLocation: sourceLocation)
    }

    /// The output folder holds exactly the mesh of an uninterrupted run, and the program named it.
    func checkMesh(_ end: ProgramEnd, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let mesh = try await UninterruptedRun.mesh
        #expect(end.cause == .exited(0), "\(end)", sourceLocation: sourceLocation)
        #expect(end.lines == [output + "/selfie.obj"], "\(end)", sourceLocation: sourceLocation)
        #expect(files(below: output) == ["selfie.obj"], sourceLocation: sourceLocation)
        // Compared apart, so that a failure does not print both.
        let isSame = bytes(output + "/selfie.obj") == mesh
        #expect(isSame, "the file differs from an uninterrupted run's", sourceLocation: sourceLocation)
    }
}

extension JSON {
    /// The number of a batch's items that are at work or wait, of what `show` and `why` tell.
    var itemsUnderWay: Int? {
        guard let running = self["counts"]?["running"]?.number?.int else { return nil }
        return running + (self["counts"]?["waiting"]?.number?.int ?? 0)
    }
}
