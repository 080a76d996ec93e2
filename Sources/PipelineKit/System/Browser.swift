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
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        let program = environment["BROWSER"] ?? "xdg-open"
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(address), nil]
        defer { for argument in arguments { free(argument) } }
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for variable in variables { free(variable) } }
        var process: pid_t = 0
        return posix_spawnp(&process, program, &actions, nil, &arguments, &variables) == 0
    }
}
