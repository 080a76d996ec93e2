import PipelineCore

/// A message on the desktop: `Notify` of org.freedesktop.Notifications (Desktop Notifications Specification 1.2) over
/// the session bus, by one of the programs that speak to it.
struct DesktopSink: NotificationSink {
    let environment: [String: String]

    /// Those that need no quoting first.
    private static let programs = ["notify-send", "busctl", "gdbus"]

    func deliver(_ notification: JobNotification) async throws(NotificationFailure) {
        guard let bus else {
            throw NotificationFailure(
                "there is no session bus, so no desktop to show a notification on",
                hint: "DBUS_SESSION_BUS_ADDRESS and XDG_RUNTIME_DIR name none; choose another sink for this machine",
                isRetryable: false)
        }
        guard let found = ExecutableLookup.first(of: Self.programs, in: environment) else {
            throw NotificationFailure(
                "no program that speaks to the desktop is installed",
                hint: "install notify-send (Debian: libnotify-bin), busctl or gdbus", isRetryable: false)
        }
        var variables = environment
        variables["DBUS_SESSION_BUS_ADDRESS"] = bus
        let program = ShortProgram(
            program: found.path, arguments: Self.arguments(of: found.name, notification), environment: variables,
            folder: nil, limit: .seconds(10))
        try await program.run(input: [])
    }

    /// The bus's address: the environment's, else where systemd puts it.
    private var bus: String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let folder = environment["XDG_RUNTIME_DIR"], ExecutableLookup.exists("\(folder)/bus") else {
            return nil
        }
        return "unix:path=\(folder)/bus"
    }

    private static func arguments(of program: String, _ notification: JobNotification) -> [String] {
        let (title, text) = (notification.title, "job \(notification.job)")
        switch program {
        case "notify-send": return ["--app-name=pipeline", "--", title, text]
        case "busctl":
            return [
                "--user", "--", "call", service, "/org/freedesktop/Notifications", service, "Notify", "susssasa{sv}i",
                "pipeline", "0", "", title, text, "0", "0", "-1",
            ]
        default:
            return [
                "call", "--session", "--dest", service, "--object-path", "/org/freedesktop/Notifications", "--method",
                "\(service).Notify", quoted("pipeline"), "uint32 0", quoted(""), quoted(title), quoted(text),
                "@as []", "@a{sv} {}", "int32 -1",
            ]
        }
    }

    private static let service = "org.freedesktop.Notifications"

    /// A string in GVariant's text form.
    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "'", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20: " "
            default: String(scalar)
            }
        }
        return "'" + escaped.joined() + "'"
    }
}
