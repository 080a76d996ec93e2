import PipelineCore

/// A message by e-mail, handed to a mail server over SMTP (RFC 5321) by libcurl.
struct EmailSink: NotificationSink {
    /// `smtp://` or `smtps://`, perhaps with user and password.
    let server: String
    let sender: String
    let recipients: [String]
    let clock: any WallClock

    func deliver(_ notification: JobNotification) async throws(NotificationFailure) {
        guard server.hasPrefix("smtp://") || server.hasPrefix("smtps://") else {
            throw NotificationFailure(
                "the mail server's URL begins neither with smtp:// nor with smtps://", isRetryable: false)
        }
        let broken = ([sender] + recipients).first { MailMessage.address(in: $0) == nil }
        if let broken {
            throw NotificationFailure("'\(broken)' is no mail address", hint: "NAME@DOMAIN", isRetryable: false)
        }
        let message = MailMessage(sender: sender, recipients: recipients, notification: notification, sent: clock.now)
        let submission = MailSubmission(
            server: server, sender: MailMessage.address(in: sender) ?? "",
            recipients: recipients.compactMap { MailMessage.address(in: $0) }, message: message)
        try await submission.perform()
    }
}
