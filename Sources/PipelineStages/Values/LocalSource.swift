import CLibrary
import JSONPath
import PipelineCore

/// A local file that becomes the body of a request or a part of one: there, readable, and of this size just now.
struct LocalSource: Sendable {
    /// Absolute.
    let path: String
    let fingerprint: SourceFingerprint

    var size: Int64 { fingerprint.size }

    /// The file that a template names, relative to the document's folder.
    init(_ template: Template, at range: SourceRange, in scope: Scope) throws(EvaluationFailure) {
        let text = try template.evaluateText(in: scope)
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw .wrong(message: "the path of the file to send is empty", hint: nil, range: range)
        }
        try self.init(path: try scope.filePath(text), at: range)
    }

    /// The file at an absolute path.
    init(path: String, at range: SourceRange) throws(EvaluationFailure) {
        self.path = path
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw Self.failure(path, errno, range) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw .wrong(message: "\(path) is not a regular file", hint: "name the file to send", range: range)
        }
        guard access(path, R_OK) == 0 else { throw Self.failure(path, errno, range) }
        fingerprint = SourceFingerprint(facts)
    }

    /// A path from a folder.
    static func absolute(_ path: String, in folder: String) -> String {
        if path.hasPrefix("/") { return path }
        return folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
    }

    private static func failure(_ path: String, _ code: Int32, _ range: SourceRange) -> EvaluationFailure {
        let hint =
            switch code {
            case EACCES: "check its permissions, and those of its folders"
            case ENOENT: "check the path; a relative one belongs to the document's folder"
            case ENOTDIR: "a part of the path is a file, not a folder"
            default: "check the path"
            }
        return .wrong(
            message: "the file \(path) can't be read: \(String(cString: strerror(code)))", hint: hint, range: range)
    }
}

extension StageContext {
    /// Keeps in which states files are sent. Throws when one is not what expressions have said of it: a service may have been
    /// told that.
    ///
    /// - Parameter files: the texts of their fingerprints, by path.
    func checkSent(_ files: [String: String], service: String?) async throws(StageFailure) {
        for path in files.keys.sorted() { try await checkWritten(path) }
        for (path, state) in files where !(await facts(ofFileAt: path, otherThan: state).isEmpty) {
            throw .definite(
                StepFailure(
                    "\(path) has changed since the job read it",
                    hint: "put the file back as it was, or start a new job with the new one: pipeline run",
                    service: service, place: facts.place))
        }
        try await sends(files)
    }
}
