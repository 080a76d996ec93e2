import CLibrary
import PipelineCore
import PipelineHTTP
import Synchronization

/// The SHA-256 of a file that is sent from its beginning to its end, over all attempts: each byte is taken in once, as it is
/// read for sending, and what was made out so far goes into the checkpoint.
///
/// Fed on the transport's thread and asked by the stage.
final class UploadDigest: Sendable {
    /// The part of it that a checkpoint keeps.
    struct Checkpoint: Codable, Sendable, Equatable {
        /// The file's time of change (ctime), which no program can set back.
        var changed: Int64
        /// States in order of their positions: behind what the service confirmed, and behind what was read.
        var marks: [ResumableSHA256.Mark]
    }

    private struct State: Sendable {
        var running = ResumableSHA256()
        var marks: [ResumableSHA256.Mark] = []
    }

    private static let distance: Int64 = 1 << 20
    private let source: SourceFile
    private let version: SourceVersion?
    private let state: Mutex<State>

    init(_ source: SourceFile, _ checkpoint: Checkpoint?) {
        self.source = source
        version = SourceVersion(source.path)
        state = Mutex(State(marks: checkpoint?.marks ?? []))
    }

    /// Returns whether what was sent of the file is still what stands in it. Its size, time and inode are the same;
    /// only when its time of change is not, the bytes are read once more and compared.
    func agrees(with checkpoint: Checkpoint?) throws(FileFailure) -> Bool {
        guard let checkpoint, let version, version.changed != checkpoint.changed, let last = checkpoint.marks.last
        else {
            return true
        }
        var running = ResumableSHA256()
        try Self.feed(&running, from: source.path, to: last.position)
        return running.mark == last
    }

    /// Takes the digest up for bytes that are sent from an offset on; reads what lies between it and the nearest state.
    func begin(at offset: Int64) throws(FileFailure) {
        var (running, marks) = state.withLock { ($0.running, $0.marks) }
        let best = marks.last { $0.position <= offset }
        if running.position > offset || running.position < best?.position ?? 0 {
            running = best.flatMap(ResumableSHA256.init) ?? ResumableSHA256()
        }
        // Nothing that lies further on may be taken up later: by then it may be of other bytes.
        marks.removeAll { $0.position > running.position }
        try Self.feed(&running, from: source.path, to: offset)
        let fed = running
        state.withLock { $0 = State(running: fed, marks: marks) }
    }

    /// Takes in bytes that were read for sending. Those that were taken in before are skipped: libcurl may go back.
    func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        state.withLock { state in
            let skipped = state.running.position - offset
            guard skipped >= 0, skipped < bytes.count else { return }
            state.running.update(UnsafeRawBufferPointer(rebasing: bytes[Int(skipped)...]))
            if state.running.position - (state.marks.last?.position ?? 0) >= Self.distance {
                state.marks.append(state.running.mark)
            }
        }
    }

    /// Returns what a restart needs, given how many bytes the service is known to have.
    func checkpoint(confirmed: Int64) -> Checkpoint? {
        guard let version else { return nil }
        return state.withLock { state in
            let start = state.marks.lastIndex { $0.position <= confirmed } ?? 0
            state.marks.removeFirst(min(start, state.marks.count))
            let newest = state.running.mark
            let kept = [state.marks.first, newest].compactMap(\.self).filter { $0.position > 0 }
            guard !kept.isEmpty else { return nil }
            return Checkpoint(changed: version.changed, marks: kept.count == 2 && kept[0] == kept[1] ? [newest] : kept)
        }
    }

    /// The digest of the whole file; nil unless all of it was read, and it is still the same.
    func whole() -> (digest: [UInt8], version: SourceVersion)? {
        guard let version, version == SourceVersion(source.path) else { return nil }
        return state.withLock { state in
            state.running.position == source.size ? (state.running.digest, version) : nil
        }
    }

    private static func feed(_ running: inout ResumableSHA256, from path: String, to end: Int64) throws(FileFailure) {
        guard running.position < end else { return }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("read", path) }
        defer { close(descriptor) }
        _ = try FileDigest.read(descriptor, path, running.position..<end) { running.update($0) }
    }
}
