import CLibrary

/// The number of open files that this process may have (`RLIMIT_NOFILE`, getrlimit(2)), and the part of them that
/// transfers leave to all that must go on meanwhile: the journal, timers, signals, names, programs.
///
/// The kernel hands out the lowest number that is free: a descriptor whose number lies in the reserve says that only the
/// reserve is left. Whoever opens files or sockets for transfers closes such a one, and its attempt waits for better times
/// as it does on a full disk.
package enum DescriptorBudget {
    /// Fewer than these are not enough for a job.
    package static let least = 40
    /// More than these are of no use here, and cost programs that we start which close them one by one.
    private static let most: rlim_t = 65_536
    /// The number of descriptors that a process has open of itself.
    private static let own = 20
    /// A socket, the file, and a second socket while a name's addresses are tried.
    private static let perTransfer = 3

    /// The most open files; read once.
    package static let limit = current()

    /// Raises the limit that programs begin with to the one that they may have, and returns it. To be called before
    /// anything else, once.
    @discardableResult package static func raise() -> Int {
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0 else { return limit }
        let wanted = min(limits.rlim_max, max(most, limits.rlim_cur))
        if wanted > limits.rlim_cur {
            limits.rlim_cur = wanted
            setrlimit(resource, &limits)
        }
        return limit
    }

    /// The number of descriptors that are kept back.
    package static var reserve: Int { max(4, min(64, limit / 4)) }

    /// The number of transfers that may be under way at a time.
    package static var transfers: Int { max(1, (limit - reserve - own) / perTransfer) }

    /// False for a descriptor just opened that leaves less than the reserve.
    package static func allows(_ descriptor: Int32) -> Bool { Int(descriptor) < limit - reserve }

    /// True for an error of the system that passes when others end what they do: too many open files, of this process or
    /// in all, too little memory, too many threads; or a full disk.
    package static func isPassing(_ code: Int32) -> Bool {
        [EMFILE, ENFILE, ENOMEM, EAGAIN, ENOSPC, EDQUOT].contains(code)
    }

    private static func current() -> Int {
        var limits = rlimit()
        return getrlimit(resource, &limits) == 0 ? Int(clamping: limits.rlim_cur) : 256
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
