import CLibrary
import HTTPTypes
import PipelineCore
import PipelineHTTP
import Synchronization

/// The receiving end of one exchange of a download, on the transport's thread: decides by the head what becomes of the
/// body, and keeps the digests running.
final class DownloadReceiver: Sendable {
    /// The consequence of the head.
    enum Outcome: Sendable {
        /// No head came.
        case none
        /// The body went to the part.
        case received
        /// What was held before is the whole file.
        case nothingMore
        /// The bytes that are held are of no use; with the reason.
        case restart(String)
        /// It is no file: the answer is in memory.
        case answer
        /// It is something else in the place of the file.
        case unrelated
        /// A file has the name already, and may not be replaced.
        case exists(path: String)
        case busy(path: String)
        case lackOfRoom(PartFile.LackOfRoom, path: String)
        /// The head promises another number of bytes than the author wants.
        case otherSize(Int64)
        /// The file is in a content coding that is not undone here.
        case foreignCoding(String)
        case failed(FileFailure)
    }

    private struct State: Sendable {
        var part: PartFile?
        var notes: PartNotes?
        /// Up to where they go.
        var noted: Int64 = 0
        var path: String?
        var digests: RunningDigests
        /// The content as it came, when that is coded.
        var coded: CodedContent?
        var start: Int64 = 0
        var position: Int64 = 0
        /// Behind the last byte that the head promises: what comes beyond is no part of the file.
        var end = Int64.max
        var validator: Validator?
        var coding: String?
        var total: Int64?
        var stated: [DeclaredDigest] = []
        var outcome = Outcome.none
        var told: Int64 = -1
        var toldAt: Timestamp

        /// Observers are told of each quarter of a mebibyte, of the last byte, and of what came slowly.
        mutating func take(_ bytes: UnsafeRawBufferPointer, at now: Timestamp) -> Taken {
            digests.update(bytes)
            position += Int64(bytes.count)
            let isWorthTelling =
                position - told >= 256 << 10 || position == total || told < 0 || now - toldAt >= .milliseconds(100)
            if isWorthTelling { (told, toldAt) = (position, now) }
            note()
            return Taken(position: position, total: total, isWorthTelling: isWorthTelling)
        }

        private mutating func note() {
            guard let notes, position - noted >= notes.unit else { return }
            noted = position
            notes.add(PartNote(start: 0, end: position, proof: digests.proof))
        }
    }

    /// A body as the service has coded it: what its own digests are about (RFC 9530, sections 2 and 3), and what bounds
    /// that which comes out of it.
    struct CodedContent: Sendable {
        var digests: RunningDigests
        var bytes: Int64 = 0

        /// The most that may come out of so much: a small response that would fill the disk is refused.
        var most: Int64 { UnpackLimits(packed: bytes, maximumSize: nil).bytes }

        mutating func take(_ bytes: UnsafeRawBufferPointer) {
            digests.update(bytes)
            self.bytes += Int64(bytes.count)
        }
    }

    private struct Taken {
        let position: Int64
        let total: Int64?
        let isWorthTelling: Bool
    }

    /// A consistent view: the digests are those of exactly the bytes before the position.
    struct Snapshot: Sendable {
        let part: PartFile?
        /// The final path; nil while it is not known.
        let path: String?
        /// The place in the file where the body began.
        let start: Int64
        let position: Int64
        let digests: RunningDigests
        let coded: CodedContent?
        let validator: Validator?
        let coding: String?
        let total: Int64?
        let stated: [DeclaredDigest]
        let outcome: Outcome
    }

    let marks: ProgressTicker
    private let session: DownloadSession
    private let place: OutputPath
    private let url: String
    /// True if a file that has the name already may spare the download.
    private let comparesExisting: Bool
    /// True if a head that promises another size than the wanted one is enough to refuse the file.
    private let refusesByHead: Bool
    private let wanted: VerifyDefinition.Values
    private let owner: @Sendable (Validator?) -> String
    private let open: @Sendable (String) throws(PartFile.OpenFailure) -> PartFile
    private let now: @Sendable () -> Timestamp
    private let state: Mutex<State>

    /// - Parameters:
    ///   - comparesExisting: whether a file that has the name already may spare the download.
    ///   - refusesByHead: whether a head that promises another size than the wanted one is enough to refuse the file.
    ///   - wanted: what the author wants the whole to be.
    ///   - part: the file with the bytes held, if there are any; `digests` have seen them.
    ///   - open: makes a new part of a file of that path.
    ///   - owner: whose the notes are, by the version of the resource, see ``PartNotes``.
    init(
        _ session: DownloadSession, marks: ProgressTicker, place: OutputPath, url: String, comparesExisting: Bool,
        refusesByHead: Bool, wanted: VerifyDefinition.Values, checkpoint: DownloadCheckpoint, part: PartFile?,
        digests: RunningDigests,
        open: @escaping @Sendable (String) throws(PartFile.OpenFailure) -> PartFile,
        owner: @escaping @Sendable (Validator?) -> String, now: @escaping @Sendable () -> Timestamp
    ) {
        self.session = session
        self.marks = marks
        self.place = place
        self.url = url
        self.comparesExisting = comparesExisting
        self.refusesByHead = refusesByHead
        self.wanted = wanted
        self.open = open
        self.owner = owner
        self.now = now
        state = Mutex(
            State(
                part: part, path: checkpoint.target, digests: digests, position: session.held,
                validator: session.validator, coding: session.coding, total: session.total,
                stated: checkpoint.stated, toldAt: now()))
    }

    /// The sink that leads here.
    func sink(report: @escaping @Sendable (_ received: Int64, _ total: Int64?) -> Void) -> ResponseSink {
        .file(
            FileSink(
                onBytes: { bytes in
                    let taken = self.state.withLock { $0.take(bytes, at: self.now()) }
                    self.marks.move(to: taken.position)
                    if taken.isWorthTelling { report(taken.position, taken.total) }
                }, onCoded: { bytes in self.state.withLock { $0.coded?.take(bytes) } },
                end: { self.state.withLock { min($0.end, $0.coded?.most ?? .max) } },
                decide: { head in self.state.withLock { self.decide(head, &$0) } }))
    }

    var snapshot: Snapshot {
        let state = state.withLock { $0 }
        return Snapshot(
            part: state.part, path: state.path, start: state.start, position: state.position,
            digests: state.digests, coded: state.coded, validator: state.validator, coding: state.coding,
            total: state.total,
            stated: state.stated, outcome: state.outcome)
    }

    private func decide(_ head: HTTPResponse, _ state: inout State) -> SinkDecision {
        switch session.verdict(on: head) {
        case .answer:
            state.outcome = .answer
            return .memory
        case .unrelated:
            state.outcome = .unrelated
            return .stop
        case .restart(let reason):
            state.outcome = .restart(reason)
            return .stop
        case .nothingMore:
            state.outcome = .nothingMore
            state.total = session.held
            return .discard
        case .whole(let total):
            state.coding = DownloadSession.coding(head.headerFields)
            state.stated = stated(in: head.headerFields, isWhole: true)
            state.coded = nil
            let coding = ContentCoding(head.headerFields)
            if case .foreign(let name) = coding {
                state.outcome = .foreignCoding(name)
                return .stop
            }
            if coding.isDecodable { state.coded = CodedContent(digests: RunningDigests(state.stated.map(\.algorithm))) }
            // What is decoded has neither the length nor the ranges of what was sent.
            state.validator = coding.isDecodable ? nil : Validator(head.headerFields)
            state.total = coding.isDecodable ? nil : total
            // Of a body without an end so much is enough to tell that it is none that the author wants.
            state.end = state.total ?? wanted.size.map { $0 < .max ? $0 + 1 : $0 } ?? .max
            return receive(from: 0, head.headerFields, &state)
        case .rest(let end, let total):
            state.total = total
            state.end = end
            if session.held == 0 {
                state.validator = Validator(head.headerFields)
                state.coding = DownloadSession.coding(head.headerFields)
            }
            // What was said of the whole stays: a header of the author's may be about each answer's own bytes.
            let known = state.stated
            for digest in stated(in: head.headerFields, isWhole: false)
            where !known.contains(where: { $0.source == digest.source && $0.algorithm == digest.algorithm }) {
                state.stated.append(digest)
            }
            return receive(from: session.held, head.headerFields, &state)
        }
    }

    private func stated(in headers: HTTPFields, isWhole: Bool) -> [DeclaredDigest] {
        var stated = DeclaredDigest.stated(in: headers, isWhole: isWhole)
        if isWhole || !wanted.headerIsOfContent, let name = wanted.header.flatMap({ HTTPField.Name($0) }),
            let text = headers[name],
            let digest = DeclaredDigest(text, source: name.rawName)
        {
            stated.append(digest)
        }
        return stated
    }

    private func receive(from offset: Int64, _ headers: HTTPFields, _ state: inout State) -> SinkDecision {
        if refusesByHead, let total = state.total, let size = wanted.size, total != size {
            state.outcome = .otherSize(total)
            return .stop
        }
        let path = state.path ?? place.path(named: DownloadName.make(headers: headers, url: url))
        state.path = path
        let isTold = wanted.digest != nil || state.coded == nil && state.stated.contains(where: \.tellsFilesApart)
        if comparesExisting, isTold, access(path, F_OK) == 0 {
            state.outcome = .exists(path: path)
            return .stop
        }
        do throws(PartFile.OpenFailure) {
            let part: PartFile
            if let known = state.part {
                part = known
            } else {
                part = try open(path)
            }
            state.part = part
            return receive(into: part, from: offset, path, &state)
        } catch {
            switch error {
            case .busy: state.outcome = .busy(path: path)
            case .file(let failure): state.outcome = .failed(failure)
            }
            return .stop
        }
    }

    private func receive(
        into part: PartFile, from offset: Int64, _ path: String, _ state: inout State
    ) -> SinkDecision {
        do throws(FileFailure) {
            if part.size != offset { try part.truncate(to: offset) }
        } catch {
            state.outcome = .failed(error)
            return .stop
        }
        state.notes = nil
        do throws(PartFile.LackOfRoom) {
            // Where there is no room yet, to write behind it would fill the file with zeros on some file systems.
            if let total = state.total, try part.reserve(total) {
                state.notes = PartNotes(part, behind: total, of: owner(state.validator))
                state.noted = offset
            }
        } catch {
            state.outcome = .lackOfRoom(error, path: path)
            return .stop
        }
        if offset == 0 { state.digests = .proving(wanted.algorithms + state.stated.map(\.algorithm)) }
        state.start = offset
        state.position = offset
        state.outcome = .received
        return .writeToDescriptor(part.descriptor, offset: offset)
    }
}
