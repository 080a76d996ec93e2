import CLibrary
import CFiles

/// Room on a disk that is taken before there is something to put in.
enum DiskSpace {
    /// The result of the wish for room.
    enum Outcome { case reserved, lacking, notOffered }

    /// Reserves a stretch of a file without changing its length.
    ///
    /// Where the file system has no such call, as over networks, or the system has none, nothing is reserved:
    /// posix_fallocate(3) would write over the whole stretch there.
    static func reserve(_ descriptor: Int32, _ stretch: Range<Int64>) -> Outcome {
        var result: Int32
        repeat {
            result = files_reserve(descriptor, stretch.lowerBound, stretch.upperBound - stretch.lowerBound)
        } while result != 0 && errno == EINTR
        if result == 0 { return .reserved }
        return errno == ENOSPC || errno == EDQUOT ? .lacking : .notOffered
    }
}
