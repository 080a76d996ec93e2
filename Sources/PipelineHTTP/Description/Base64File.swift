import CLibrary
import CBase64

/// Encodes stretches of a file in base64 (RFC 4648, section 4) into a buffer: a file of any size in the space of one
/// block, and from any place on, as libcurl goes back before it sends a body again.
final class Base64File {
    /// The bytes that are read at a time, few enough for the processor's second cache; a multiple of three.
    private static let block = 96 << 10
    /// Two digits for each twelve bits, the first one in the low byte.
    private static let pairs: [UInt16] = {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        return (0..<4096).map { UInt16(digits[$0 >> 6]) | UInt16(digits[$0 & 63]) << 8 }
    }()

    /// The number of digits, with padding, of that many bytes.
    static func length(of fileSize: Int64) -> Int64 { (fileSize + 2) / 3 * 4 }

    private let fileSize: Int64
    private let source = UnsafeMutableRawBufferPointer.allocate(byteCount: block, alignment: 16)
    /// Groups of digits of which only a part was asked for.
    private let spare = UnsafeMutableRawBufferPointer.allocate(byteCount: 4, alignment: 4)

    init(fileSize: Int64) { self.fileSize = fileSize }

    deinit {
        source.deallocate()
        spare.deallocate()
    }

    /// Fills the buffer from a place of the digits on, as far as whole groups of them go; 0 when the file is shorter than
    /// it was, nil with `errno` set when it can't be read.
    func read(_ descriptor: Int32, from position: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let skipped = Int(position % 4)
        if skipped > 0 || buffer.count < 4 { return readOneGroup(descriptor, position, skipped, into: buffer) }
        let wanted = Int(min(Int64(buffer.count), Self.length(of: fileSize) - position)) / 4
        var groups = 0
        while groups < wanted {
            let count = min(wanted - groups, Self.block / 3)
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[(4 * groups)...])
            guard let done = encode(descriptor, group: position / 4 + Int64(groups), count: count, into: rest) else {
                return nil
            }
            guard done > 0 else { return 0 }
            groups += count
        }
        return 4 * groups
    }

    private func readOneGroup(
        _ descriptor: Int32, _ position: Int64, _ skipped: Int, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard let done = encode(descriptor, group: position / 4, count: 1, into: spare), done > 0 else { return 0 }
        let count = min(4 - skipped, buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: spare[skipped..<skipped + count]))
        return count
    }

    private func encode(
        _ descriptor: Int32, group: Int64, count: Int, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int? {
        let offset = group * 3
        let wanted = Int(min(Int64(count) * 3, fileSize - offset))
        var filled = 0
        while filled < wanted {
            let done = pread(
                descriptor, source.baseAddress! + filled, wanted - filled, off_t(offset + Int64(filled)))
            if done < 0, errno == EINTR { continue }
            guard done >= 0 else { return nil }
            if done == 0 { return 0 }
            filled += done
        }
        Self.encode(UnsafeRawBufferPointer(rebasing: source[..<wanted]), into: buffer)
        return (wanted + 2) / 3 * 4
    }

    /// Encodes whole groups, the last one padded where it lacks bytes.
    private static func encode(_ bytes: UnsafeRawBufferPointer, into digits: UnsafeMutableRawBufferPointer) {
        guard let input = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), let output = digits.baseAddress else {
            return
        }
        let whole = bytes.count / 3
        // What wide registers leave, and all where the processor has none.
        let done = base64_encode(input, bytes.count, output) / 3
        pairs.withUnsafeBufferPointer { pairs in
            let pairs = pairs.baseAddress!
            for group in done..<whole {
                let place = input + 3 * group
                let bits = Int(place[0]) << 16 | Int(place[1]) << 8 | Int(place[2])
                let both = UInt32(pairs[bits >> 12]) | UInt32(pairs[bits & 0xFFF]) << 16
                output.storeBytes(of: both.littleEndian, toByteOffset: 4 * group, as: UInt32.self)
            }
            let rest = bytes.count - 3 * whole
            guard rest > 0 else { return }
            let place = input + 3 * whole
            let bits = Int(place[0]) << 16 | (rest == 2 ? Int(place[1]) << 8 : 0)
            var both = UInt32(pairs[bits >> 12]) | UInt32(pairs[bits & 0xFFF]) << 16
            let padding = UInt32(UInt8(ascii: "="))
            both = both & 0x00FF_FFFF | padding << 24
            if rest == 1 { both = both & 0x0000_FFFF | padding << 16 | padding << 24 }
            output.storeBytes(of: both.littleEndian, toByteOffset: 4 * whole, as: UInt32.self)
        }
    }
}
