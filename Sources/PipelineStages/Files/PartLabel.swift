import CLibrary
import Crypto
import PipelineCore

/// Whose a part file is, for those who find it: as long as it is open a lock on one byte far behind its end, whose place
/// is made from the owner's name, and for as long as it is a part an attribute with the number of that place.
///
/// They keep nobody out; the part's own lock does. The label's lock, like that, belongs to the open file and ends with it
/// (OFD locks, fcntl(2)); the attribute stays (xattr(7)). A system or a file system without either tells nobody.
struct PartLabel: Sendable, Hashable {
    private let place: Int64

    private static let first: Int64 = 1 << 61
    private static let count: Int64 = 1 << 61

    /// The label of what a step of a job receives: the same over restarts, and no other's.
    init(_ step: StepKey, of job: JobID) {
        let owner = [job.text, step.description]
        let digest = Array(SHA256.hash(data: Array(owner.map { "\($0.utf8.count):\($0)" }.joined().utf8)))
        let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        place = Self.first + Int64(number % UInt64(Self.count - 1))
    }

    private init(place: Int64) { self.place = place }

    /// Says that an open file is its owner's for as long as it is open.
    func lock(_ descriptor: Int32) { Self.call(descriptor, Self.set, F_WRLCK, place, 1) }

    /// Says that a new file is its owner's.
    func put(on descriptor: Int32) {
        Self.attribute.set(withUnsafeBytes(of: place.bigEndian) { Array($0) }, on: descriptor)
    }

    /// Says that an open file is a part no more: it has its name.
    static func takeOff(_ descriptor: Int32) { attribute.remove(from: descriptor) }

    /// Whose the part under a path is, open or not; nil for a file that is nobody's part, or doesn't say so.
    init?(ofFileAt path: String) {
        guard let value = Self.attribute.value(ofFileAt: path), value.count == MemoryLayout<Int64>.size else {
            return nil
        }
        place = value.reduce(0) { $0 << 8 | Int64($1) }
    }

    private static let attribute = FileAttribute("user.pipeline.part")

    /// Takes back what ``lock(_:)`` said.
    static func remove(from descriptor: Int32) { call(descriptor, set, F_UNLCK, first, count - 1) }

    /// Whose the file is that somebody else has open; nil when nobody says so.
    static func holder(of descriptor: Int32) -> PartLabel? {
        guard let found = call(descriptor, query, F_WRLCK, first, count - 1), found.l_type != Int16(F_UNLCK),
            found.l_len == 1
        else { return nil }
        return PartLabel(place: Int64(found.l_start))
    }

    @discardableResult private static func call(
        _ descriptor: Int32, _ command: Int32?, _ kind: Int32, _ start: Int64, _ length: Int64
    ) -> flock? {
        guard let command else { return nil }
        var lock = flock()
        lock.l_type = Int16(kind)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(start)
        lock.l_len = off_t(length)
        let result = withUnsafeMutablePointer(to: &lock) { pointer in
            fcntl(descriptor, command, UnsafeMutableRawPointer(pointer))
        }
        return result == 0 ? lock : nil
    }

    // https://man7.org/linux/man-pages/man2/F_OFD_SETLK.2const.html: the headers show them to few.
    #if os(Linux)
        private static let query: Int32? = 36
        private static let set: Int32? = 37
    #else
        private static let query: Int32? = nil
        private static let set: Int32? = nil
    #endif
}
