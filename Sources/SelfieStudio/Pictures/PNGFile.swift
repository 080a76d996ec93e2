import CZlib

/// PNG (ISO/IEC 15948, RFC 2083) for pictures of eight bits a colour, without interlacing.
enum PNGFile {
    /// The defect of bytes that should be a PNG.
    enum Defect: Error, Equatable, CustomStringConvertible {
        case noPNG
        case unsupported
        case damaged

        var description: String {
            switch self {
            case .noPNG: "this is no PNG"
            case .unsupported: "only PNGs of eight bits a colour, without transparency and interlacing, can be read"
            case .damaged: "the PNG is damaged"
            }
        }
    }

    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// A picture of more pixels is not one of ours.
    private static let mostPixels = 1 << 26

    static func bytes(of picture: Picture) -> [UInt8] {
        var lines: [UInt8] = []
        let length = picture.width * 3
        lines.reserveCapacity((length + 1) * picture.height)
        for row in 0..<picture.height {
            // Each byte less the one above it, filter 2: neighbours are alike.
            lines.append(2)
            for place in (row * length)..<((row + 1) * length) {
                lines.append(picture.bytes[place] &- (row > 0 ? picture.bytes[place - length] : 0))
            }
        }
        let header = bigEndian(picture.width) + bigEndian(picture.height) + [8, 2, 0, 0, 0]
        return signature + chunk("IHDR", header) + chunk("IDAT", compressed(lines)) + chunk("IEND", [])
    }

    static func picture(in bytes: [UInt8]) throws(Defect) -> Picture {
        guard bytes.starts(with: signature) else { throw .noPNG }
        var offset = signature.count
        var size: (width: Int, height: Int)?
        var data: [UInt8] = []
        while offset + 12 <= bytes.count {
            let length = number(bytes, at: offset)
            guard offset + 12 + length <= bytes.count else { throw .damaged }
            let content = bytes[(offset + 8)..<(offset + 8 + length)]
            guard number(bytes, at: offset + 8 + length) == checksum(bytes[(offset + 4)..<(offset + 8 + length)]) else {
                throw .damaged
            }
            switch String(decoding: bytes[(offset + 4)..<(offset + 8)], as: UTF8.self) {
            case "IHDR":
                guard length == 13 else { throw .damaged }
                guard Array(content.dropFirst(8)) == [8, 2, 0, 0, 0] else { throw .unsupported }
                size = (number(bytes, at: offset + 8), number(bytes, at: offset + 12))
            case "IDAT": data += content
            default: break
            }
            offset += 12 + length
        }
        guard let size, size.width > 0, size.height > 0, size.width <= mostPixels / size.height else { throw .damaged }
        return try picture(width: size.width, height: size.height, compressed: data)
    }

    /// Undoes the filters 0 to 4 of section 9.2.
    private static func picture(width: Int, height: Int, compressed: [UInt8]) throws(Defect) -> Picture {
        let length = width * 3
        var lines = [UInt8](repeating: 0, count: (length + 1) * height)
        var count = uLongf(lines.count)
        guard uncompress(&lines, &count, compressed, uLong(compressed.count)) == Z_OK, Int(count) == lines.count else {
            throw .damaged
        }
        var bytes = [UInt8](repeating: 0, count: length * height)
        for row in 0..<height {
            let start = row * (length + 1)
            for column in 0..<length {
                let left = column >= 3 ? Int(bytes[row * length + column - 3]) : 0
                let above = row > 0 ? Int(bytes[(row - 1) * length + column]) : 0
                let corner = column >= 3 && row > 0 ? Int(bytes[(row - 1) * length + column - 3]) : 0
                let predicted: Int
                switch lines[start] {
                case 0: predicted = 0
                case 1: predicted = left
                case 2: predicted = above
                case 3: predicted = (left + above) / 2
                case 4: predicted = nearest(to: left + above - corner, left, above, corner)
                default: throw .damaged
                }
                bytes[row * length + column] = lines[start + 1 + column] &+ UInt8(truncatingIfNeeded: predicted)
            }
        }
        return Picture(width: width, height: height, bytes: bytes)
    }

    /// Paeth's predictor: the first of the three that is nearest.
    private static func nearest(to value: Int, _ left: Int, _ above: Int, _ corner: Int) -> Int {
        let (toLeft, toAbove, toCorner) = (abs(value - left), abs(value - above), abs(value - corner))
        if toLeft <= toAbove, toLeft <= toCorner { return left }
        return toAbove <= toCorner ? above : corner
    }

    private static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var count = compressBound(uLong(bytes.count))
        var packed = [UInt8](repeating: 0, count: Int(count))
        // It fails for a buffer that is too small only, and this one has the size that zlib says.
        let status = compress2(&packed, &count, bytes, uLong(bytes.count), 6)
        precondition(status == Z_OK)
        return Array(packed.prefix(Int(count)))
    }

    static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + content
        return bigEndian(content.count) + named + bigEndian(checksum(named[...]))
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBufferPointer { Int(crc32(0, $0.baseAddress, uInt($0.count))) }
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}
