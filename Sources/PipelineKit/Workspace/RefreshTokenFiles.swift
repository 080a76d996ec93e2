import Crypto
import CLibrary
import PipelineCore
import PipelineHTTP

/// The refresh tokens that endpoints put in the place of the first ones, a file each in the state folder. Each is sealed
/// under the one that it came in the place of: who has the folder alone can read none.
struct RefreshTokenFiles: RefreshTokenStore {
    /// The state folder.
    let folder: String

    func latest(of original: String, for account: String) -> String? {
        guard let key = try? HashKey(folder: folder),
            let sealed = FileContent.bytes(path(of: original, account, key), limit: 64 << 10),
            let bytes = key.unseal(sealed, under: original)
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    func keep(_ token: String, of original: String, for account: String) {
        mkdir("\(folder)/tokens", 0o700)
        guard let key = try? HashKey(folder: folder) else { return }
        // The first token may be worth nothing by now: one that was kept stays until the next is on the disk.
        _ = FileContent.replace(path(of: original, account, key), with: key.seal(Array(token.utf8), under: original))
    }

    func turn(of original: String, for account: String) -> (any Sendable)? {
        mkdir("\(folder)/tokens", 0o700)
        // Where nothing can be locked nothing can be kept either, and waiting would mend neither.
        guard let key = try? HashKey(folder: folder) else { return Turn(-1) }
        let path = "\(path(of: original, account, key)).lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return Turn(-1) }
        let turn = Turn(descriptor)
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK ? nil : turn
    }

    /// A lock on a file, which goes with its descriptor.
    private final class Turn: Sendable {
        private let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { if descriptor >= 0 { close(descriptor) } }
    }

    private func path(of original: String, _ account: String, _ key: HashKey) -> String {
        "\(folder)/tokens/\(key.hash(Array("refresh token\n\(account)\n\(original)".utf8)))"
    }
}
