import CCurl
import PipelineCore
import PipelineHTTP
import Synchronization

/// One message on its way to a mail server: libcurl's SMTP (https://curl.se/libcurl/c/libcurl-tutorial.html) on a
/// thread of its own, since it blocks, for at most a minute.
///
/// With a password the connection must be encrypted, unless the server is on this machine; without one it is where the
/// server offers it, whatever its certificate: mail servers have their own.
final class MailSubmission: Sendable {
    private let server: String
    private let sender: String
    private let recipients: [String]
    private let message: [UInt8]
    private let isCancelled = Mutex(false)

    init(server: String, sender: String, recipients: [String], message: [UInt8]) {
        self.server = server
        self.sender = sender
        self.recipients = recipients
        self.message = message
    }

    /// Returns when the server has taken the message.
    func perform() async throws(NotificationFailure) {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !OwnThread.start({ continuation.resume(returning: self.send()) }) else { return }
                let failure = NotificationFailure("the system can't start a thread now", isRetryable: true)
                continuation.resume(returning: .failure(failure))
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        try result.get()
    }

    private func send() -> Result<Void, NotificationFailure> {
        curl_global_init(ccurl_global_defaults())
        defer { curl_global_cleanup() }
        guard let easy = curl_easy_init() else {
            return .failure(NotificationFailure("libcurl can't be initialised", isRetryable: true))
        }
        defer { curl_easy_cleanup(easy) }
        var list: UnsafeMutablePointer<curl_slist>?
        for recipient in recipients { list = curl_slist_append(list, "<\(recipient)>") }
        defer { curl_slist_free_all(list) }
        let source = MailSource(message) { [weak self] in self?.isCancelled.withLock { $0 } ?? true }
        set(easy, list, source)
        let code = withExtendedLifetime(source) { curl_easy_perform(easy) }
        guard code != CURLE_OK else { return .success(()) }
        return .failure(failure(code, easy))
    }

    private func set(_ easy: UnsafeMutableRawPointer, _ list: UnsafeMutablePointer<curl_slist>?, _ source: MailSource) {
        ccurl_set_string(easy, CURLOPT_URL, server)
        ccurl_set_string(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        ccurl_set_string(easy, CURLOPT_MAIL_FROM, "<\(sender)>")
        ccurl_set_list(easy, CURLOPT_MAIL_RCPT, list)
        ccurl_set_long(easy, CURLOPT_USE_SSL, Int(needsEncryption ? CURLUSESSL_ALL.rawValue : CURLUSESSL_TRY.rawValue))
        if !needsEncryption, server.hasPrefix("smtp://") {
            // What would else go in clear text.
            ccurl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 0)
            ccurl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 0)
        }
        ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        ccurl_set_long(easy, CURLOPT_TIMEOUT, 60)
        ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT, 20)
        ccurl_set_long(easy, CURLOPT_UPLOAD, 1)
        ccurl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(message.count))
        ccurl_set_close_on_exec(easy)
        let pointer = Unmanaged.passUnretained(source).toOpaque()
        ccurl_set_read(easy) { buffer, size, count, context in
            guard let buffer, let context else { return 0 }
            let source = Unmanaged<MailSource>.fromOpaque(context).takeUnretainedValue()
            return source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
        }
        ccurl_set_pointer(easy, CURLOPT_READDATA, pointer)
        ccurl_set_long(easy, CURLOPT_NOPROGRESS, 0)
        ccurl_set_progress(easy) { context, _, _, _, _ in
            guard let context else { return 0 }
            return Unmanaged<MailSource>.fromOpaque(context).takeUnretainedValue().isStopped() ? 1 : 0
        }
        ccurl_set_pointer(easy, CURLOPT_XFERINFODATA, pointer)
    }

    /// A password must not be read by who listens.
    private var needsEncryption: Bool {
        let rest = server.unicodeScalars.drop { $0 != "/" }.dropFirst(2)
        let authority = rest.prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return false }
        let host = authority[authority.index(after: at)...].prefix { $0 != ":" }
        return !["127.0.0.1", "localhost"].contains(String(host))
    }

    private func failure(_ code: CURLcode, _ easy: UnsafeMutableRawPointer) -> NotificationFailure {
        var status = 0
        ccurl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        let said = status >= 400 ? "the mail server answered \(status)" : String(cString: curl_easy_strerror(code))
        let isFinal =
            status >= 500 || code == CURLE_LOGIN_DENIED || code == CURLE_URL_MALFORMAT
            || code == CURLE_UNSUPPORTED_PROTOCOL
        return NotificationFailure(
            "the mail was not sent: \(said)",
            hint: code == CURLE_USE_SSL_FAILED ? "the server offers no encryption, which a password needs" : nil,
            isRetryable: !isFinal)
    }
}

/// The message as libcurl reads it; used by the thread of one submission alone.
private final class MailSource {
    private let message: [UInt8]
    private var position = 0
    let isStopped: () -> Bool

    init(_ message: [UInt8], isStopped: @escaping () -> Bool) {
        self.message = message
        self.isStopped = isStopped
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, message.count - position)
        message[position..<position + count].withUnsafeBytes { buffer.copyMemory(from: $0) }
        position += count
        return count
    }
}
