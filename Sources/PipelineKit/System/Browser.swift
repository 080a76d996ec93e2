import CLibrary

/// The browser of the desktop that a person sits at.
package enum Browser {
    /// Opens the address by xdg-open(1), where there is a desktop; false where there is none. The address is on no command
    /// line that other users see for longer than that program lives.
    @discardableResult
    package static func open(_ address: String, environment: [String: String]) -> Bool {
        guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil || environment["BROWSER"] != nil
        else {
            return false
        }
        let program = environment["BROWSER"] ?? "xdg-open"
        return ProgramStart([program, address], environment: environment).start() != nil
    }
}
