package import HTTPTypes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Puts the body of an answer where it belongs, as its sink decides.
///
/// Used on the thread that owns the exchange only; doubles of the transport use it too, so that sinks behave the same.
package final class ResponseReceiver {
    private let sink: ResponseSink
    private let maximumBodyBytes: Int
    private let sampleBytes: Int
    private var target = Target.memory
    package private(set) var body: [UInt8] = []
    /// The first of a body that goes to a file.
    package private(set) var sample: [UInt8] = []
    /// Set when receiving had to stop.
    package private(set) var failure: ExchangeFailure.Reason?
    /// True when the sink chose to end the exchange with the head.
    package private(set) var isStopped = false

    private enum Target {
        case memory
        case descriptor(Int32, offset: Int64, path: String, isOwned: Bool)
        case discard
    }

    package init(_ sink: ResponseSink, maximumBodyBytes: Int, sampleBytes: Int = 0) {
        self.sink = sink
        self.sampleBytes = sampleBytes
        self.maximumBodyBytes = maximumBodyBytes
    }

    deinit {
        finish()
    }

    /// Takes the head of the final answer; false when the exchange has to end.
    package func begin(status: Int, headers: HTTPFields) -> Bool {
        guard case .file(let file) = sink else { return true }
        let head = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: headers)
        switch file.decide(head) {
        case .memory: break
        case .discard: target = .discard
        case .stop: isStopped = true
        case .writeToDescriptor(let descriptor, let offset):
            target = .descriptor(descriptor, offset: offset, path: "", isOwned: false)
        case .writeToFile(let path, let offset):
            openFile(path, at: offset)
        }
        return failure == nil && !isStopped
    }

    /// Bodies of redirects that are followed are of no interest.
    package func discardBody() {
        target = .discard
    }

    /// Takes the next piece; false when the exchange has to end.
    package func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch target {
        case .discard: return true
        case .memory:
            guard body.count + bytes.count <= maximumBodyBytes else {
                failure = .bodyTooLarge
                return false
            }
            body.append(contentsOf: bytes)
            return true
        case .descriptor(let descriptor, let offset, let path, let isOwned):
            guard write(bytes, to: descriptor, at: offset, path: path) else { return false }
            target = .descriptor(descriptor, offset: offset + Int64(bytes.count), path: path, isOwned: isOwned)
            if sample.count < sampleBytes { sample.append(contentsOf: bytes.prefix(sampleBytes - sample.count)) }
            if case .file(let file) = sink { file.onBytes?(bytes) }
            return true
        }
    }

    /// Closes a file that was opened here.
    package func finish() {
        if case .descriptor(let descriptor, _, let path, true) = target {
            if close(descriptor) != 0, errno != EINTR, failure == nil {
                failure = .localWrite(errno: errno, path: path)
            }
        }
        if case .descriptor = target { target = .discard }
    }

    private func openFile(_ path: String, at offset: Int64) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            failure = .localWrite(errno: errno, path: path)
            return
        }
        target = .descriptor(descriptor, offset: offset, path: path, isOwned: true)
        // EINVAL: a device or a pipe, which has no length.
        if ftruncate(descriptor, off_t(offset)) != 0, errno != EINVAL {
            failure = .localWrite(errno: errno, path: path)
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int64, path: String) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset + Int64(done)))
            if count > 0 {
                done += count
            } else if count == 0 || errno != EINTR {
                failure = .localWrite(errno: count == 0 ? ENOSPC : errno, path: path)
                return false
            }
        }
        return true
    }
}
