import CCurl
import FoundationEssentials
import JSONPath
import PipelineCore

/// A notification as a message (RFC 5322, RFC 2045): its `Message-ID` is made from the notification's id, so that
/// a mailbox knows a repetition.
struct MailMessage {
    let sender: String
    let recipients: [String]
    let notification: JobNotification
    let sent: Timestamp

    /// Lines end in CR LF. To be asked for on the thread of a submission: a domain's other letters than ASCII's are read
    /// in its locale.
    var bytes: [UInt8] {
        let domain = Self.inASCII(Self.address(in: sender) ?? "").split(separator: "@").last ?? "localhost"
        let head = [
            "Date: \(date)", "From: \(Self.mailbox(sender))",
            "To: \(recipients.map(Self.mailbox).joined(separator: ", "))",
            "Subject: \(Self.word(notification.title))", "Message-ID: <\(notification.id)@\(domain)>",
            "Auto-Submitted: auto-generated", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: base64",
        ]
        let encoded = Data(text.utf8).base64EncodedString(options: [
            .lineLength76Characters, .endLineWithCarriageReturn,
        ])
        let lines = encoded.split(whereSeparator: \.isNewline).map(String.init)
        return Array((head + [""] + lines).joined(separator: "\r\n").utf8) + [13, 10]
    }

    private var text: String {
        """
        \(notification.title)

        pipeline: \(notification.pipeline)
        job: \(notification.job)
        event: \(notification.event.rawValue)
        time: \(notification.time)

        \(notification.json.prettyText())
        """
    }

    /// RFC 5322 section 3.3, in UTC.
    private var date: String { sent.httpDate.dropLast(3) + "+0000" }

    /// The address of `Name <address>` or of an address alone; nil for what is none or could break a header.
    static func address(in text: String) -> String? {
        var address = text[...]
        if text.hasSuffix(">"), let start = text.lastIndex(of: "<") {
            address = text[text.index(after: start)...].dropLast()
        }
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        let isWhole = parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
        let isClean = !address.unicodeScalars.contains { " <>,;:\"()[]\\".unicodeScalars.contains($0) }
        return isPlain && isWhole && isClean ? String(address) : nil
    }

    /// A mailbox as a header has it (RFC 5322, section 3.4), of `Name <address>` or of an address alone: a name of plain
    /// words is left as it is, another one of ASCII is quoted, any other encoded.
    private static func mailbox(_ text: String) -> String {
        guard let address = Self.address(in: text) else { return text }
        guard text.hasSuffix(">"), let start = text.lastIndex(of: "<") else { return inASCII(address) }
        let name = unquoted(text[..<start])
        if name.isEmpty { return inASCII(address) }
        guard name.utf8.allSatisfy({ $0 < 0x80 }) else { return "\(encodedWords(name))\r\n <\(inASCII(address))>" }
        let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || " !#$%&'*+-/=?^_`{|}~".contains($0) }
        return "\(isPlain ? name : quoted(name)) <\(inASCII(address))>"
    }

    private static func quoted(_ name: String) -> String {
        var escaped = ""
        for character in name {
            if character == "\"" || character == "\\" { escaped.append("\\") }
            escaped.append(character)
        }
        return "\"\(escaped)\""
    }

    /// A name without spaces around it, and without quotes if it has them.
    private static func unquoted(_ text: Substring) -> String {
        var name = text.drop { $0 == " " }
        while name.last == " " { name.removeLast() }
        guard name.count > 1, name.first == "\"", name.last == "\"" else { return String(name) }
        var plain = ""
        var isEscaped = false
        for character in name.dropFirst().dropLast() {
            isEscaped = character == "\\" && !isEscaped
            if !isEscaped { plain.append(character) }
        }
        return plain
    }

    /// An address with its domain as libcurl has it in the envelope: in Punycode (RFC 3492), if it is not ASCII.
    private static func inASCII(_ address: String) -> String {
        let parts = address.split(separator: "@").map(String.init)
        guard parts.count == 2, !parts[1].utf8.allSatisfy({ $0 < 0x80 }), let url = curl_url() else { return address }
        defer { curl_url_cleanup(url) }
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_set(url, CURLUPART_HOST, parts[1], 0) == CURLUE_OK,
            ccurl_url_get(url, CURLUPART_HOST, &text, UInt32(CURLU_PUNYCODE)) == CURLUE_OK, let text
        else { return address }
        defer { curl_free(text) }
        return "\(parts[0])@\(String(cString: text))"
    }

    /// A header's text: as it is when it is short ASCII, else encoded.
    private static func word(_ text: String) -> String {
        let clean = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        if clean.utf8.count <= 200, clean.utf8.allSatisfy({ $0 < 0x80 }), !clean.contains("=?") { return clean }
        return encodedWords(clean)
    }

    /// Encoded words of at most 75 characters (RFC 2047).
    private static func encodedWords(_ text: String) -> String {
        var words: [String] = []
        var piece = ""
        for character in text {
            if piece.utf8.count + String(character).utf8.count > 42 {
                words.append(piece)
                piece = ""
            }
            piece.append(character)
        }
        words.append(piece)
        return words.map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }
}
