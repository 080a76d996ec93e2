import CFiles

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Room on a disk that is taken before there is something to put in.
enum DiskSpace {
    /// Reserves a stretch of a file without changing its length; false when the disk has no room for it.
    ///
    /// Where the file system has no such call, as over networks, or the system has none, nothing is reserved:
    /// posix_fallocate(3) would write over the whole stretch there.
    static func reserve(_ descriptor: Int32, _ stretch: Range<Int64>) -> Bool {
        var result: Int32
        repeat {
            result = files_reserve(descriptor, stretch.lowerBound, stretch.upperBound - stretch.lowerBound)
        } while result != 0 && errno == EINTR
        return result == 0 || (errno != ENOSPC && errno != EDQUOT)
    }
}
