import CSpawn
import CLibrary

/// The cost of one run of a process, as the kernel accounts for it (getrusage(2)).
struct Measured {
    /// Seconds of user and system time.
    var cpu: Double
    var wall: Double
    /// Peak resident memory in MiB.
    var memory: Double
    var status: Int32

    /// Runs a shell command to its end, its output thrown away.
    ///
    /// The peak of a process counts what its parent held when it was forked: a shell of two MiB starts the command, ends
    /// at once and leaves it to this process, which would be ten times as large a parent.
    static func run(_ command: String) -> Measured {
        let isAdopting = spawn_adopt_orphans() == 0
        let started = now()
        let shell = spawn(isAdopting ? "exec \(command) &" : "exec \(command)")
        var (status, usage) = end(of: shell)
        if isAdopting { (status, usage) = end(of: -1) }
        return Measured(
            cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime), wall: now() - started,
            memory: Double(usage.ru_maxrss) / 1024, status: status)
    }

    private static func end(of process: pid_t) -> (Int32, rusage) {
        var status: Int32 = 0
        var usage = rusage()
        while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
        return (status, usage)
    }

    /// The cost of this process so far.
    static var ofThisProcess: Measured {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Measured(
            cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime), wall: now(),
            memory: Double(usage.ru_maxrss) / 1024, status: 0)
    }

    /// The resident memory of this process now, in MiB (proc_pid_statm(5)).
    static var residentMemory: Double {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
        return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
    }

    /// Seconds of the clock that all processes share.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    static func spawn(_ command: String) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        var arguments: [UnsafeMutablePointer<CChar>?] =
            ["sh", "-c", command].map { (text: String) in strdup(text) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, environ)
        return process
    }
}

extension [Double] {
    /// The middle value; 0 of none.
    var median: Double {
        let sorted = sorted()
        return isEmpty ? 0 : sorted[count / 2]
    }
}

/// A number with so many digits after the point.
func text(_ value: Double, _ digits: Int = 2) -> String {
    let factor = (0..<digits).reduce(1.0) { result, _ in result * 10 }
    let scaled = (value * factor).rounded() / factor
    return digits == 0 ? "\(Int(scaled))" : "\(scaled)"
}
