import FoundationEssentials
import Synchronization

/// All models, in memory and on disk. A change of state is on disk before anybody is told.
final class ModelLedger: Sendable {
    /// The meaning of an `Idempotency-Key` for the request that brings it.
    enum Claim: Equatable {
        /// Nobody has it: the caller goes on, and must `add` a record or `release` the key.
        case granted
        /// The first request with it is still being handled.
        case pending
        /// The first request made this model.
        case repeated(ModelRecord)
        /// The first request had another body.
        case mismatched
    }

    /// The progress of a running computation.
    struct Progress: Sendable {
        var share: Double
        var end: ContinuousClock.Instant?
    }

    private struct State {
        var records: [String: ModelRecord] = [:]
        var keys: [String: String] = [:]
        var claims: [String: String] = [:]
        var progress: [String: Progress] = [:]
    }

    private let folder: String
    private let state: Mutex<State>

    /// Reads the records of an earlier run.
    init(dataFolder: String) throws {
        folder = dataFolder + "/models"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var state = State()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".json") {
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)"),
                let record = try? JSONDecoder().decode(ModelRecord.self, from: data)
            else { continue }
            state.records[record.id] = record
            if let key = record.key { state.keys[key] = record.id }
        }
        self.state = Mutex(state)
    }

    /// In the order of submission.
    var all: [ModelRecord] {
        state.withLock { $0.records.values.sorted { $0.number < $1.number } }
    }

    func record(_ id: String) -> ModelRecord? {
        state.withLock { $0.records[id] }
    }

    func progress(_ id: String) -> Progress? {
        state.withLock { $0.progress[id] }
    }

    func path(of file: ModelFile, _ id: String) -> String {
        "\(folder)/\(id)\(file.suffix)"
    }

    /// draft-ietf-httpapi-idempotency-key-header-07 §2.6 and §2.7.
    func claim(_ key: String, bodyDigest: String) -> Claim {
        state.withLock { state in
            if let id = state.keys[key], let record = state.records[id] {
                return record.bodyDigest == bodyDigest ? .repeated(record) : .mismatched
            }
            if let digest = state.claims[key] {
                return digest == bodyDigest ? .pending : .mismatched
            }
            state.claims[key] = bodyDigest
            return .granted
        }
    }

    /// The request came to nothing: the key is free again.
    func release(_ key: String) {
        state.withLock { $0.claims[key] = nil }
    }

    /// Keeps a new model, with its key if it has one.
    func add(
        id: String, video: String, quality: ModelQuality, key: String?, bodyDigest: String
    ) throws -> ModelRecord {
        try state.withLock { state in
            let number = (state.records.values.map(\.number).max() ?? 0) + 1
            let record = ModelRecord(
                id: id, number: number, video: video, quality: quality, key: key, bodyDigest: bodyDigest
            )
            try save(record)
            state.records[id] = record
            if let key {
                state.keys[key] = id
                state.claims[key] = nil
            }
            return record
        }
    }

    /// Changes a model unless it is over.
    /// - Returns: the record as it is then, or nil if there is none or it was over.
    func advance(_ id: String, _ change: (inout ModelRecord) -> Void) throws -> ModelRecord? {
        try state.withLock { state in
            guard var record = state.records[id], !record.isOver else { return nil }
            change(&record)
            try save(record)
            state.records[id] = record
            if record.state != .working { state.progress[id] = nil }
            return record
        }
    }

    /// Ends a model and forgets its files; the record stays, so that its key goes on meaning it.
    /// - Returns: whether there is such a model.
    func cancel(_ id: String) throws -> Bool {
        try state.withLock { state in
            guard var record = state.records[id] else { return false }
            guard record.state != .error else { return true }
            record.message = record.state == .done ? "deleted by request" : "cancelled by request"
            record.state = .error
            record.files = [:]
            try save(record)
            state.records[id] = record
            state.progress[id] = nil
            removeFiles(id)
            return true
        }
    }

    /// Deletes the files that there are.
    func removeFiles(_ id: String) {
        for file in ModelFile.allCases { try? FileManager.default.removeItem(atPath: path(of: file, id)) }
    }

    /// Notes how far the computation is; in memory only.
    /// - Throws: `CancellationError` if the model is over.
    func note(_ progress: Progress, of id: String) throws {
        try state.withLock { state in
            guard state.records[id]?.state == .working else { throw CancellationError() }
            state.progress[id] = progress
        }
    }

    private func save(_ record: ModelRecord) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try DiskFile.replace("\(folder)/\(record.id).json", with: Array(encoder.encode(record)))
    }
}
