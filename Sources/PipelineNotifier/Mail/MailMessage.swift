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

    /// Lines end in CR LF.
    var bytes: [UInt8] {
        let domain = Self.address(in: sender)?.split(separator: "@").last.map(String.init) ?? "localhost"
        let head = [
            "Date: \(date)", "From: \(sender)", "To: \(recipients.joined(separator: ", "))",
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

    /// A header's text: as it is when it is short ASCII, else encoded words of at most 75 characters (RFC 2047).
    private static func word(_ text: String) -> String {
        let clean = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        if clean.utf8.count <= 200, clean.utf8.allSatisfy({ $0 < 0x80 }), !clean.contains("=?") { return clean }
        var words: [String] = []
        var piece = ""
        for character in clean {
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
