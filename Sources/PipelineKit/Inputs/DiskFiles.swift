import CLibrary
import Crypto
package import JSONPath
package import PipelineCore
import PipelineHTTP
package import PipelineStages

/// The answers to what expressions ask of files, from the disk.
package struct DiskFiles: FileFacts {
    private let digests: DigestCache
    private let inputs: FetchedInputs?
    /// True if other machines may take jobs over.
    private let isShared: Bool

    /// - Parameters:
    ///   - digests: what transfers have made out already; other files are read.
    ///   - inputs: who fetches inputs that are URLs; nil where nobody does.
    ///   - isShared: true if other machines may take jobs over.
    package init(digests: DigestCache = DigestCache(), inputs: FetchedInputs? = nil, isShared: Bool = false) {
        self.isShared = isShared
        self.digests = digests
        self.inputs = inputs
    }

    package func copy(
        of url: String, for document: PipelineDefinition, host: any StageHost
    ) async throws(StageFailure) -> String {
        guard let inputs else {
            throw .definite(StepFailure("nothing here fetches \(url)", hint: "give a file", place: host.facts.place))
        }
        return try await inputs.copy(of: url, for: document, host: host)
    }

    package func value(of fact: Fact) async throws(StepFailure) -> JSON {
        switch fact {
        case .size(let path): return .number(JSONNumber(try Self.size(path)))
        case .digest(let path, let algorithm):
            if algorithm == .sha256, let known = digests.sha256(ofFileAt: path) { return .string(known.hex) }
            return .string(try await Self.digest(path, algorithm))
        case .text(let path): return .string(try Self.text(path))
        case .base64(let path): return .string(try Self.base64(path))
        case .jsonLines(let path): return try Self.lines(path)
        case .copy, .now, .uuid, .kept: return .null
        }
    }

    /// Size, modification time and inode, as of an upload's source.
    package func fingerprint(ofFileAt path: String) -> String? { SourceFingerprint.text(ofFileAt: path) }

    package func forget(copyAt path: String) { FetchedInputs.forget(copyAt: path) }

    /// The SHA-256 in hex. A job does not wait until all of a large file has been read: of more than 1 MiB its size, and the
    /// SHA-256 of four pieces of 256 KiB, the first at its start and the last at its end.
    @concurrent package func contentDigest(ofFileAt path: String) async -> String? {
        try? Self.contentDigest(path, piece: 256 << 10)
    }

    /// - Parameter piece: the number of bytes of each of the pieces of a file that has more.
    static func contentDigest(_ path: String, piece: Int64) throws(StepFailure) -> String {
        let size = Int64(try size(path))
        let pieces: Int64 = 4
        guard size > pieces * piece else { return try FileDigest.hex(.sha256, of: path) }
        var digests = "\(size)"
        for number in 0..<pieces {
            let start = (size - piece) * number / (pieces - 1)
            digests += " " + (try FileDigest.hex(.sha256, of: path, in: start..<(start + piece)))
        }
        return SHA256.hash(data: Array(digests.utf8)).hex
    }

    package func lacks(fileAt path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    package func sharedFingerprint(ofFileAt path: String) -> String? {
        isShared ? SourceFingerprint.sharedText(ofFileAt: path) : nil
    }

    private static func size(_ path: String) throws(StepFailure) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw unreadable(path) }
        return Int(status.st_size)
    }

    @concurrent private static func digest(
        _ path: String, _ algorithm: DigestAlgorithm
    ) async throws(StepFailure) -> String {
        try FileDigest.hex(algorithm, of: path)
    }

    private static func text(_ path: String) throws(StepFailure) -> String {
        guard let text = FileContent.text(path, limit: 1 << 20) else {
            if errno == EFBIG {
                throw StepFailure("\(path) is larger than 1 MiB", hint: "text() is for small files; upload it instead")
            }
            if errno == EILSEQ {
                throw StepFailure(
                    "\(path) is no text in UTF-8",
                    hint: "bytes are sent as a \"file\" body or by an 'upload' stage; fileBase64() puts them into JSON")
            }
            throw unreadable(path)
        }
        return text
    }

    private static func base64(_ path: String) throws(StepFailure) -> String {
        guard let bytes = FileContent.bytes(path, limit: 1 << 20) else {
            if errno == EFBIG {
                throw StepFailure(
                    "\(path) is larger than 1 MiB",
                    hint: "fileBase64() streams a file of any size where it stands alone in its ${{ }}, in \"json\" or "
                        + "\"text\": \"data:image/png;base64,${{ fileBase64(…) }}\"")
            }
            throw unreadable(path)
        }
        return Base64Bytes.encode(bytes)
    }

    /// The values of the lines, as a body that streams them has them.
    private static func lines(_ path: String) throws(StepFailure) -> JSON {
        var values: [JSON] = []
        do {
            let reader = try LineReader(path)
            while let line = try reader.next() {
                do throws(JSONSyntaxError) {
                    values.append(try JSON.parse(line))
                } catch {
                    throw StepFailure(
                        "\(path): line \(reader.number) is not JSON: \(error.message)", hint: error.hint)
                }
            }
        } catch let failure as StepFailure {
            throw failure
        } catch {
            throw unreadable(path)
        }
        return .array(values)
    }

    private static func unreadable(_ path: String) -> StepFailure {
        let hint =
            switch errno {
            case EACCES: "check its permissions, and those of its folders"
            case ENOENT: "check the path; a relative one belongs to the document's folder"
            case ENOTDIR: "a part of the path is a file, not a folder"
            case EISDIR: "name a file in it"
            default: "check the path"
            }
        return StepFailure("cannot read \(path): \(FileContent.reason)", hint: hint)
    }
}
