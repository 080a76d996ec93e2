import Crypto
import Glibc
import PipelineCore

/// The key of the hashes by which the journal tells request bodies apart; secret to the state folder, mode 0600.
struct HashKey: Sendable {
    let key: SymmetricKey

    /// Reads the folder's key, or makes it.
    init(folder: String) throws(JournalFailure) {
        let path = "\(folder)/hash.key"
        if let bytes = FileContent.bytes(path, limit: 1024), bytes.count == 32 {
            key = SymmetricKey(data: bytes)
            return
        }
        let fresh = SymmetricKey(size: .bits256)
        let bytes = fresh.withUnsafeBytes { Array($0) }
        // Made under another name and linked: two processes that start at once agree on one key.
        let draft = "\(folder)/hash.key.\(getpid())"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw .notWritable(folder: folder, reason: FileContent.reason)
        }
        close(descriptor)
        let isFirst = link(draft, path) == 0
        unlink(draft)
        guard let kept = isFirst ? bytes : FileContent.bytes(path, limit: 1024) else {
            throw .notWritable(folder: folder, reason: FileContent.reason)
        }
        key = SymmetricKey(data: kept)
    }

    /// 128 bits that nobody without the key can guess, in hex: what makes a push's address one's own.
    func token(job: JobID, step: StepKey, own: String) -> String {
        String(hash(Array("callback\n\(job)\n\(step.stage)\n\(step.item ?? -1)\n\(own)".utf8)).prefix(32))
    }

    /// HMAC-SHA-256 (RFC 2104) in hex.
    func hash(_ bytes: [UInt8]) -> String {
        HMAC<SHA256>.authenticationCode(for: bytes, using: key).hex
    }
}
