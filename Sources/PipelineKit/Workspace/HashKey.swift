import Crypto
import CLibrary
import PipelineCore
import PipelineJournal

/// The key of the hashes by which the journal tells request bodies apart; secret to the state folder, mode 0600.
struct HashKey: Sendable {
    let key: SymmetricKey
    /// The code of nothing, which is where each one begins: that costs as much as the code of a short text.
    private let beginning: HMAC<SHA256>

    init(bytes: [UInt8]) { self.init(SymmetricKey(data: bytes)) }

    private init(_ key: SymmetricKey) {
        self.key = key
        beginning = HMAC(key: key)
    }

    /// Reads the folder's key, or makes it.
    init(folder: String) throws(JournalFailure) {
        let path = "\(folder)/hash.key"
        if let bytes = FileContent.bytes(path, limit: 1024), bytes.count == 32 {
            self.init(bytes: bytes)
            return
        }
        let fresh = SymmetricKey(size: .bits256)
        let bytes = fresh.withUnsafeBytes { Array($0) }
        // Made under another name and linked: two processes that start at once agree on one key.
        // Not under the number of the process: what one left that died in the middle would be in the way of the next of
        // that number, and in a container numbers come again soon.
        let draft = "\(folder)/hash.key.\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .notWritable(folder: folder, reason: FileContent.reason) }
        defer { unlink(draft) }
        let isWritten = write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        let reason = FileContent.reason
        close(descriptor)
        guard isWritten else { throw .notWritable(folder: folder, reason: reason) }
        let isFirst = link(draft, path) == 0
        guard let kept = isFirst ? bytes : FileContent.bytes(path, limit: 1024) else {
            throw .notWritable(folder: folder, reason: FileContent.reason)
        }
        // With a key that is cut short, or empty, everyone could make the addresses of pushes.
        guard kept.count == 32 else {
            throw .notWritable(folder: folder, reason: "\(path) is damaged; remove it, and a new one is made")
        }
        self.init(bytes: kept)
    }

    /// 128 bits that nobody without the key can guess, in hex: what makes a push's address one's own.
    func token(job: JobID, step: StepKey, own: String) -> String {
        String(hash(Array("callback\n\(job)\n\(step.stage)\n\(step.item ?? -1)\n\(own)".utf8)).prefix(32))
    }

    /// HMAC-SHA-256 (RFC 2104) in hex.
    func hash(_ bytes: [UInt8]) -> String {
        var code = beginning
        code.update(data: bytes)
        return Array(code.finalize()).hex
    }
}

extension Workspace {
    /// The first label of the dashboard's address, which nobody without the state folder can know.
    package func dashboardName() throws(JournalFailure) -> String {
        if settings.journalAddress != nil { try MachineFolder(settings.stateFolder).prepare() }
        let key = try HashKey(folder: settings.stateFolder)
        return "pipeline-" + key.hash(Array("dashboard".utf8)).prefix(16)
    }
}
