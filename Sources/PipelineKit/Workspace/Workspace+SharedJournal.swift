import Crypto
import PipelineCore
import PipelineJournal

/// The things that are of one state folder, or the same for all machines of a shared journal.
extension Workspace {
    /// The key of hashes and of callbacks' addresses: the folder's, or the shared journal's.
    func hashKey(of journal: Journal?) throws(JournalFailure) -> HashKey {
        guard let shared = journal?.shared else { return try HashKey(folder: settings.stateFolder) }
        return HashKey(bytes: try shared.sharedKey())
    }

    /// Returns what seals captured secrets. In a shared journal that is `PIPELINE_JOURNAL_KEY`, which stands outside of
    /// the database; without it such a value is left out, and can't be used by a later stage.
    func seal(of journal: Journal, else key: HashKey) -> any SecretSeal {
        guard journal.shared != nil else { return key }
        guard let text = settings.environment["PIPELINE_JOURNAL_KEY"], !text.isEmpty else { return NoSeal() }
        return HashKey(bytes: Array(SHA256.hash(data: Array(text.utf8))))
    }
}

/// Seals nothing: what it is given is lost, which a warning says.
private struct NoSeal: SecretSeal {
    func seal(_ bytes: [UInt8], under secret: String) -> [UInt8] { [] }
    func unseal(_ sealed: [UInt8], under secret: String) -> [UInt8]? { nil }
}

extension PostgresJournal {
    /// The journal at an address, as the settings' environment has it.
    convenience init(
        shared address: String, _ settings: Settings,
        observe: @escaping @Sendable (JournalFailure?) -> Void = { _ in }
    ) throws(JournalFailure) {
        guard Self.isAddress(address) else {
            throw .other(
                "PIPELINE_JOURNAL is no address of a database; write postgres://USER@HOST/DATABASE, or leave it out for "
                    + "the journal of the state folder")
        }
        var options = Options()
        options.host = settings.environment["PIPELINE_HOST"].flatMap { $0.isEmpty ? nil : $0 }
        options.listenAddress = settings.environment["PIPELINE_JOURNAL_LISTEN"].flatMap { $0.isEmpty ? nil : $0 }
        options.version = ProgramVersion.number
        options.observe = observe
        try self.init(address, options: options)
    }
}
