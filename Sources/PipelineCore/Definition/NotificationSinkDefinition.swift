import JSONPath

/// The sink to which a notification goes.
package enum NotificationSinkDefinition: Sendable {
    /// A message on the desktop; `false`, which only an expression can give, is none.
    case desktop(Setting<Bool>)
    /// A line on the terminals of this user; likewise.
    case terminal(Setting<Bool>)
    case webhook(WebhookDefinition)
    case ntfy(NtfyDefinition)
    /// A program with its arguments; it gets the event as JSON on its standard input.
    case command([Template])
    case email(EmailDefinition)
    /// A sink that the catalogue has beyond those of the format.
    case other(NotificationSinkTemplate)

    static let desktopField = Field("desktop", .yes, "A message on the desktop.")
    static let terminalField = Field("terminal", .yes, "A line on this user's terminals.")
    static let webhookField = Field(
        "webhook", WebhookDefinition.type, examples: [["POST": "https://example.com/hook"]],
        "A request with the event as its body (Standard Webhooks).")
    static let ntfyField = Field(
        "ntfy", NtfyDefinition.type, examples: [["topic": "my-jobs"]], "A message to an ntfy server.")
    static let commandField = Field(
        "command", FieldType<[Template]>.array(of: FieldType<Template>.template(.service), atLeast: 1),
        examples: [["notify-send", "done"]], "A program and its arguments; the event comes as JSON on standard input.")
    static let emailField = Field("email", EmailDefinition.type, "A message by e-mail.")

    static let fields: [any AnyField] = [
        desktopField, terminalField, webhookField, ntfyField, commandField, emailField,
    ]

    /// The keys of an entry of `notify` that are the format's own: no sink of a catalogue can be called so.
    package static var reservedNames: Set<String> { Set(NotifyDefinition.fields.map(\.name)) }

    /// Reads the one sink of an entry; nil after having reported that there is none, or more than one, or a wrong one.
    static func read(_ reader: ObjectReader, _ others: [NotificationSinkKind]) -> NotificationSinkDefinition? {
        let names = fields.map(\.name) + others.map(\.name)
        let present = names.filter { reader.has($0) }
        if present.isEmpty, !reader.hasUnknownKeys {
            reader.findings.report(
                reader.place, "this notification goes nowhere",
                hint: "add one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
                    + ", for example \"desktop\": true")
        }
        if present.count > 1, let second = reader.place(of: present[1]) {
            reader.findings.report(
                second, "a notification goes to one sink, and this one has \(present.count)",
                hint: "make an entry of its own for each of " + present.joined(separator: ", "))
        }
        return present.compactMap { name -> NotificationSinkDefinition? in
            guard let other = others.first(where: { $0.name == name }) else { return sink(named: name, reader) }
            return reader.optional(other.field).map { NotificationSinkDefinition.other($0) }
        }.first
    }

    private static func sink(named name: String, _ reader: ObjectReader) -> NotificationSinkDefinition? {
        switch name {
        case "desktop": reader.optional(desktopField).map { .desktop($0) }
        case "terminal": reader.optional(terminalField).map { .terminal($0) }
        case "webhook": reader.optional(webhookField).map { .webhook($0) }
        case "ntfy": reader.optional(ntfyField).map { .ntfy($0) }
        case "command": reader.optional(commandField).map { .command($0) }
        default: reader.optional(emailField).map { .email($0) }
        }
    }
}

extension NotificationSinkDefinition {
    /// Returns whether it is switched on; a value that is wrong was refused when the job started.
    func isOn(in scope: Scope) -> Bool {
        switch self {
        case .desktop(let flag), .terminal(let flag): (try? flag.value(in: scope)) ?? true
        case .webhook, .ntfy, .command, .email, .other: true
        }
    }
}

extension FieldType where Value == Setting<Bool> {
    /// `true`, or a template that switches it on and off.
    static var yes: FieldType {
        let flag = flag(.known)
        return FieldType(schema: ["anyOf": [["const": true], .anyTemplate]]) { place, findings in
            if case .bool(true) = place.node.content { return .constant(true) }
            if place.text.map(TemplateReader.hasExpression) == true { return flag.read(place, findings) }
            findings.report(place, "this must be true", hint: "to switch it off, take the entry out")
            return nil
        }
    }
}

/// An ntfy topic (https://docs.ntfy.sh/publish/).
package struct NtfyDefinition: Sendable {
    /// The server; nil for ntfy.sh.
    package let url: Template?
    package let topic: Template
    /// From 1, the lowest, to 5; nil for the server's default.
    package let priority: Setting<Int>?

    static let urlField = Field(
        "url", .template(.service), default: "https://ntfy.sh", "The server.")
    static let topicField = Field(
        "topic", .template(.service), required: true, examples: ["my-jobs"], "The topic that people subscribe to.")
    static let priorityField = Field(
        "priority", .count(1...5, roots: .service), default: 3, "From 1, the lowest, to 5.")

    static var type: FieldType<NtfyDefinition> {
        .object([urlField, topicField, priorityField]) { reader in
            let url = reader.optional(urlField)
            let priority = reader.optional(priorityField)
            return reader.required(topicField).map { NtfyDefinition(url: url, topic: $0, priority: priority) }
        }
    }
}

/// A message by e-mail.
package struct EmailDefinition: Sendable {
    /// `smtp://` or `smtps://`, perhaps with user and password.
    package let server: Template
    package let sender: Template
    package let recipients: [Template]

    static let serverField = Field(
        "smtp", .template(.service), required: true, examples: ["smtp://mail.example.com:587"], "The mail server's URL."
    )
    static let senderField = Field(
        "from", .template(.service), required: true, examples: ["jobs@example.com"], "The sender's address.")
    static let recipientsField = Field(
        "to", recipientsType, required: true, examples: ["me@example.com"],
        "The recipient's address, or an array of them.")

    private static var recipientsType: FieldType<[Template]> {
        let one = FieldType<Template>.template(.service)
        return .either(.array(of: one, atLeast: 1), when: { $0.isArray }, or: one.map { [$0] })
    }

    static var type: FieldType<EmailDefinition> {
        .object([serverField, senderField, recipientsField]) { reader in
            let server = reader.required(serverField)
            let sender = reader.required(senderField)
            let recipients = reader.required(recipientsField)
            checkScheme(of: server, reader)
            guard let server, let sender, let recipients else { return nil }
            return EmailDefinition(server: server, sender: sender, recipients: recipients)
        }
    }

    private static func checkScheme(of server: Template?, _ reader: ObjectReader) {
        guard let text = server?.constant, let place = reader.place(of: "smtp") else { return }
        if text.hasPrefix("smtp://") || text.hasPrefix("smtps://") { return }
        reader.findings.report(
            place, "a mail server's URL begins with smtp:// or smtps://",
            hint: "write for example \"smtp://mail.example.com:587\"")
    }
}
