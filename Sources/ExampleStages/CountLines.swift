import Foundation
import PipelineKit

/// Counts the lines of a file: a stage with its configuration, checkpoint and captures.
struct CountLines: Stage {
    struct Checkpoint: Codable, Sendable {
        var offset: UInt64 = 0
        var lines = 0
    }

    let file: Template

    static let kind: StageKind = {
        let file = Field("file", FieldType<Template>.template(), required: true, "The file whose lines are counted.")
        return StageKind(name: "countLines", summary: "Counts the lines of a file.", fields: [file]) { reading in
            reading.declare([CaptureDeclaration(name: "lines")])
            return reading.reader.required(file).map { AnyStage(CountLines(file: $0), coding: .json) }
        }
    }()

    func resume(
        from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> StageOutcome<Checkpoint> {
        let name = try await context.resolve(file).string ?? ""
        let path = name.hasPrefix("/") ? name : "\(context.facts.folders.document)/\(name)"
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw .definite(StepFailure("can't read \(path)", hint: "check \"file\"", place: context.facts.place))
        }
        var state = checkpoint ?? Checkpoint()
        try? handle.seek(toOffset: state.offset)
        while let bytes = try? handle.read(upToCount: 1 << 20), !bytes.isEmpty {
            if Task.isCancelled { throw .stopped }
            state.lines += bytes.count { $0 == UInt8(ascii: "\n") }
            state.offset += UInt64(bytes.count)
            try await context.commit(state)
        }
        return .finished(["lines": .number(JSONNumber(state.lines))])
    }
}
