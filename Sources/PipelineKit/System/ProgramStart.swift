package import CLibrary

/// A program that is started with nothing on its standard input and output (posix_spawn(3)).
package struct ProgramStart {
    /// The program, which is looked for in the PATH where it has no slash, and its arguments.
    let words: [String]
    /// Lines of `NAME=value`.
    let environment: [String]
    /// The file of its standard error, and how that is opened.
    var errors: (path: String, flags: Int32) = ("/dev/null", O_WRONLY)
    /// A descriptor of ours, and the number under which the program has it.
    var descriptor: (ours: Int32, number: Int32)?
    /// True for one that outlives the terminal: in a session of its own.
    var hasOwnSession = false

    /// - Parameter errors: the path of a new file for its standard error; nil for none.
    package init(_ words: [String], environment: [String: String], errors: String? = nil) {
        self.words = words
        self.environment = environment.map { "\($0.key)=\($0.value)" }
        if let errors { self.errors = (errors, O_WRONLY | O_CREAT) }
    }

    /// POSIX_SPAWN_SETSID of posix_spawn(3), which Swift does not import.
    private static let ownSession: Int16 = 0x80

    /// Starts it; nil with errno where it can't be.
    package func start() -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.path, errors.flags, 0o600)
        if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor.ours, descriptor.number) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        if hasOwnSession { posix_spawnattr_setflags(&attributes, Self.ownSession) }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for variable in variables { free(variable) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &variables)
        errno = code
        return code == 0 ? process : nil
    }
}
