import CLibrary
import CMemory

/// The way in which the process keeps its memory.
package enum ProcessMemory {
    /// `M_ARENA_MAX` of glibc's `malloc.h`, which Swift's module of it leaves out.
    private static let mostHeaps: Int32 = -8
    /// `M_MMAP_THRESHOLD` of the same.
    private static let ownPages: Int32 = -3

    /// Lets all threads share two heaps: with one for each thread, as glibc has it (mallopt(3)), what one thread gave back
    /// is of no use to another, and a program that works a little on many jobs keeps twice what it needs. Before the
    /// first thread starts; does nothing where the C library has no such setting.
    ///
    /// A large buffer has pages of its own, which go back to the system with it: left to itself glibc takes them from a
    /// heap once the first has been freed, where small things that live longer then keep them.
    package static func share() {
        guard let address = dlsym(nil, "mallopt") else { return }
        typealias Setting = @convention(c) (Int32, Int32) -> Int32
        let set = unsafeBitCast(address, to: Setting.self)
        _ = set(mostHeaps, 2)
        _ = set(ownPages, 128 << 10)
    }

    /// Gives what was freed and lies between what is in use back to the system (malloc_trim(3)); does nothing where the
    /// C library can't. The code that has run goes too: a process that waits needs little of it.
    package static func giveBack() {
        memory_unmap_code()
        guard let address = dlsym(nil, "malloc_trim") else { return }
        typealias Trim = @convention(c) (Int) -> Int32
        _ = unsafeBitCast(address, to: Trim.self)(0)
    }
}
