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
    private let message: MailMessage
    private let isCancelled = Mutex(false)

    init(server: String, sender: String, recipients: [String], message: MailMessage) {
        self.server = server
        self.sender = sender
        self.recipients = recipients
        self.message = message
    }

    /// Returns when the server has taken the message for all recipients; throws also when it did so for some.
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
        // Written here: only this thread has the locale in which libcurl reads other letters than ASCII's.
        let source = MailSource(message.bytes) { [weak self] in self?.isCancelled.withLock { $0 } ?? true }
        set(easy, list)
        setCallbacks(easy, source)
        let code = withExtendedLifetime(source) { curl_easy_perform(easy) }
        guard code == CURLE_OK else { return .failure(failure(code, easy)) }
        if let failure = refusal(source.replies) { return .failure(failure) }
        return .success(())
    }

    /// Says who of the recipients did not get the mail. It is not sent again: the others have it.
    ///
    /// - Parameter replies: those of the server. Before the one to `DATA`, which is 354, come those to `RCPT`, in order.
    private func refusal(_ replies: [Int]) -> NotificationFailure? {
        guard let data = replies.lastIndex(of: 354) else { return nil }
        let answers = zip(recipients, replies[..<data].suffix(recipients.count))
        let refused = answers.filter { $0.1 / 100 != 2 }.map { "'\($0.0)' (\($0.1))" }
        guard !refused.isEmpty else { return nil }
        return NotificationFailure(
            "the mail server refused \(refused.joined(separator: ", ")); the other recipients got the mail",
            isRetryable: false)
    }

    private func set(_ easy: UnsafeMutableRawPointer, _ list: UnsafeMutablePointer<curl_slist>?) {
        ccurl_set_string(easy, CURLOPT_URL, server)
        ccurl_set_string(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        ccurl_set_string(easy, CURLOPT_MAIL_FROM, "<\(sender)>")
        ccurl_set_list(easy, CURLOPT_MAIL_RCPT, list)
        ccurl_allow_refused_recipients(easy)
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
        ccurl_set_close_on_exec(easy)
    }

    private func setCallbacks(_ easy: UnsafeMutableRawPointer, _ source: MailSource) {
        ccurl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(source.count))
        let pointer = Unmanaged.passUnretained(source).toOpaque()
        ccurl_set_read(easy) { buffer, size, count, context in
            guard let buffer, let context else { return 0 }
            let source = Unmanaged<MailSource>.fromOpaque(context).takeUnretainedValue()
            return source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
        }
        ccurl_set_pointer(easy, CURLOPT_READDATA, pointer)
        // libcurl gives the lines of the server there.
        ccurl_set_write(easy, CURLOPT_HEADERFUNCTION) { line, size, count, context in
            guard let line, let context else { return 0 }
            let source = Unmanaged<MailSource>.fromOpaque(context).takeUnretainedValue()
            source.note(UnsafeRawBufferPointer(start: line, count: size * count))
            return size * count
        }
        ccurl_set_pointer(easy, CURLOPT_HEADERDATA, pointer)
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

/// The message as libcurl reads it, and what the server says to it; used by the thread of one submission alone.
private final class MailSource {
    private let message: [UInt8]
    private var position = 0
    /// The codes of the server's replies, in order.
    private(set) var replies: [Int] = []
    let isStopped: () -> Bool

    init(_ message: [UInt8], isStopped: @escaping () -> Bool) {
        self.message = message
        self.isStopped = isStopped
    }

    var count: Int { message.count }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, message.count - position)
        message[position..<position + count].withUnsafeBytes { buffer.copyMemory(from: $0) }
        position += count
        return count
    }

    /// Notes a line of the server: a reply is over with the line that has no `-` behind its code (RFC 5321, 4.2).
    func note(_ line: UnsafeRawBufferPointer) {
        guard let code = Int(String(decoding: line.prefix(3), as: UTF8.self)) else { return }
        if line.dropFirst(3).first != UInt8(ascii: "-") { replies.append(code) }
    }
}
