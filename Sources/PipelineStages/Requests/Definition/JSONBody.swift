import JSONPath
import PipelineCore
import PipelineHTTP

/// Makes the body of a `json` or `text` key: in memory, but for a `jsonLines(…)` or `fileBase64(…)` that stands alone in
/// its `${{ }}`, whose file is read while it is sent, whatever its size.
enum JSONBody {
    static func make(_ template: JSONTemplate, in scope: Scope) throws(EvaluationFailure) -> RequestBody {
        try body(of: try template.fragments(in: scope), in: scope)
    }

    static func make(_ template: Template, in scope: Scope) throws(EvaluationFailure) -> RequestBody {
        try body(of: try template.fragments(in: scope), in: scope)
    }

    /// The file as it is just now, in the state in which the job has read it before: its size is a fact of the job, kept
    /// with what tells one state from another.
    private static func source(
        _ path: String, at range: SourceRange, in scope: Scope
    ) throws(EvaluationFailure) -> LocalSource {
        let source = try LocalSource(path: path, at: range)
        guard let known = scope.facts[.size(path)] else { throw .missing(.size(path)) }
        guard let state = FileFact(known).fingerprint, state != source.fingerprint.text else { return source }
        throw .wrong(
            message: "\(path) has changed since the job read it",
            hint: "put the file back as it was, or start a new job with the new one: pipeline run", range: range)
    }

    private static func body(of fragments: [BodyFragment], in scope: Scope) throws(EvaluationFailure) -> RequestBody {
        var segments: [BodySegment] = []
        for fragment in fragments {
            switch fragment {
            case .text(let text): segments.append(.bytes(Array(text.utf8)))
            case .base64(let path, let place):
                segments.append(.base64(path: path, fileSize: try source(path, at: place, in: scope).size))
            case .jsonLines(let path, let place):
                _ = try source(path, at: place, in: scope)
                let length = try length(of: path, at: place)
                segments += [.bytes([UInt8(ascii: "[")]), .lines(path: path, length: length)]
                segments.append(.bytes([UInt8(ascii: "]")]))
            }
        }
        if segments.isEmpty { return .bytes([]) }
        if case .bytes(let bytes)? = segments.first, segments.count == 1 { return .bytes(bytes) }
        return .pieces(segments)
    }

    /// Reads the file once: each line must be JSON, and how many bytes will be sent must be known.
    private static func length(of path: String, at range: SourceRange) throws(EvaluationFailure) -> Int64 {
        do {
            let reader = try LineReader(path)
            var length: Int64 = 0
            while let line = try reader.next() {
                do throws(JSONSyntaxError) {
                    _ = try JSON.parse(line)
                } catch {
                    throw EvaluationFailure.wrong(
                        message: "\(path): line \(reader.number) is not JSON: \(error.message)", hint: error.hint,
                        range: range)
                }
                length += Int64(line.count) + 1
            }
            return max(0, length - 1)
        } catch let failure as RequestFailure {
            throw .wrong(message: failure.message, hint: "check the path and its permissions", range: range)
        } catch let failure as EvaluationFailure {
            throw failure
        } catch {
            throw .wrong(message: "\(path) can't be read", hint: nil, range: range)
        }
    }
}
