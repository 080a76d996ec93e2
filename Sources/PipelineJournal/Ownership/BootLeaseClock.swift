import CLibrary

/// The kernel's clock since the start of the machine: CLOCK_BOOTTIME (clock_gettime(2)) with the boot id of
/// `/proc/sys/kernel/random/boot_id` (random(4)).
package struct BootLeaseClock: LeaseClock {
    package let bootID: String

    package init() { bootID = Self.readBootID() }

    package var now: Int64 {
        var time = timespec()
        #if os(Linux)
            clock_gettime(CLOCK_BOOTTIME, &time)
        #else
            clock_gettime(CLOCK_MONOTONIC, &time)
        #endif
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static func readBootID() -> String {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "unknown" }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
