import CLibrary
package import HTTPTypes

/// Puts the body of an answer where it belongs, as its sink decides.
///
/// Used on the thread that owns the exchange only; doubles of the transport use it too, so that sinks behave the same.
package final class ResponseReceiver {
    private let options: ExchangeOptions
    private var target = Target.memory
    /// Undoes the coding of a body that is coded.
    private var decoder: ContentDecoder?
    package private(set) var body: [UInt8] = []
    /// The first of a body that goes to a file.
    package private(set) var sample: [UInt8] = []
    /// The number of bytes that were thrown away.
    private var discarded = 0
    /// The number of bytes of a body that are gathered before it goes to its file.
    package var mostGathered = BodyWriter.mostBytes
    /// Set when receiving had to stop.
    package private(set) var failure: ExchangeFailure.Reason?
    /// True when the sink chose to end the exchange with the head.
    package private(set) var isStopped = false

    private enum Target {
        case memory
        case file(BodyWriter)
        case stream(StreamSink)
        case discard
    }

    package init(_ options: ExchangeOptions) { self.options = options }

    deinit {
        finish()
    }

    /// Takes the head of the final answer; false when the exchange has to end.
    package func begin(status: Int, headers: HTTPFields) -> Bool {
        let head = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: headers)
        let coding = ContentCoding(headers)
        decoder = ContentDecoder(coding)
        if case .memory = options.receive, decoder == nil, coding != .none, head.status.kind == .successful {
            // What nobody here can undo is not what was asked for; an error's page is shown as it is.
            failure = .foreignCoding(headers[.contentEncoding] ?? "", status: status)
            return false
        }
        if case .stream(let stream) = options.receive, stream.decide(head) { target = .stream(stream) }
        guard case .file(let file) = options.receive else { return true }
        let length = decoder == nil ? Self.length(headers) : nil
        switch file.decide(head) {
        case .memory: break
        case .discard: target = .discard
        case .stop: isStopped = true
        case .writeToDescriptor(let descriptor, let offset):
            target = .file(
                BodyWriter(descriptor, offset: offset, file: file, length: length, most: mostGathered))
        case .writeToFile(let path, let offset):
            openFile(path, at: offset, file, length: length)
        }
        return failure == nil && !isStopped
    }

    /// Bodies of redirects that are followed are of no interest.
    package func discardBody() {
        target = .discard
    }

    /// Takes the next piece as it came; false when the exchange has to end.
    package func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let decoder else { return store(bytes) }
        if case .file(let file) = options.receive { file.onCoded?(bytes) }
        let goesOn = decoder.decode(bytes) { store($0) }
        if decoder.isDamaged { failure = failure ?? .undecodable }
        return goesOn
    }

    /// True when a coded body has ended in the middle of its coding.
    package var isCutInCoding: Bool { decoder.map { !$0.isComplete } ?? false }

    private func store(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch target {
        case .discard:
            // What nobody wants may have no end either.
            discarded += bytes.count
            if discarded > options.maximumBodyBytes { failure = .bodyTooLarge }
            return failure == nil
        case .memory:
            guard body.count + bytes.count <= options.maximumBodyBytes else {
                failure = .bodyTooLarge
                return false
            }
            body.append(contentsOf: bytes)
            return true
        case .file(let writer):
            sample(bytes)
            return note(writer, writer.take(bytes))
        case .stream(let stream):
            sample(bytes)
            switch stream.onBytes(bytes) {
            case .more: return true
            case .stop: isStopped = true
            case .tooLarge: failure = .bodyTooLarge
            }
            return false
        }
    }

    private func sample(_ bytes: UnsafeRawBufferPointer) {
        if sample.count < options.sampleBytes {
            sample.append(contentsOf: bytes.prefix(options.sampleBytes - sample.count))
        }
    }

    /// True if something that was received waits to be written, see ``flush()``.
    package var hasGathered: Bool { if case .file(let writer) = target { writer.hasGathered } else { false } }

    /// Writes what was received; false when the exchange has to end. To be called when nothing more comes for now.
    package func flush() -> Bool {
        guard case .file(let writer) = target else { return true }
        return note(writer, writer.flush())
    }

    /// Writes what was received, and closes a file that was opened here.
    package func finish() {
        guard case .file(let writer) = target else { return }
        target = .discard
        writer.finish()
        _ = note(writer, true)
    }

    private func note(_ writer: BodyWriter, _ goesOn: Bool) -> Bool {
        failure = failure ?? writer.failure
        if writer.isBeyondEnd { isStopped = true }
        return goesOn
    }

    private static func length(_ headers: HTTPFields) -> Int64? { headers[.contentLength].flatMap { Int64($0) } }

    private func openFile(_ path: String, at offset: Int64, _ file: FileSink, length: Int64?) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            failure = .localWrite(errno: errno, path: path)
            return
        }
        target = .file(
            BodyWriter(
                descriptor, offset: offset, path: path, isOwned: true, file: file, length: length,
                most: mostGathered))
        // A file that is cut off at nothing is written to the disk when it is closed, by ext4: not without need.
        var status = stat()
        if fstat(descriptor, &status) == 0, Int64(status.st_size) == offset { return }
        // EINVAL: a device or a pipe, which has no length.
        if ftruncate(descriptor, off_t(offset)) != 0, errno != EINVAL {
            failure = .localWrite(errno: errno, path: path)
        }
    }
}
