import Foundation

/// A change of a file, or what makes changes durable, as the preloaded library records them (`PowerLoss.h`).
enum FileOperation: Sendable {
    case create(path: String, inode: UInt64)
    case write(inode: UInt64, offset: Int, bytes: [UInt8])
    case truncate(inode: UInt64, length: Int)
    case sync(inode: UInt64, path: String)
    case rename(from: String, to: String)
    case link(from: String, to: String)
    case unlink(path: String)
    case makeFolder(path: String)

    /// The operations of a log, in their order. A record that the end of the process cut off is left out.
    static func read(_ path: String) -> [FileOperation] {
        var reader = RecordReader(bytes: FileManager.default.contents(atPath: path).map { Array($0) } ?? [])
        var operations: [FileOperation] = []
        while let operation = reader.next() { operations.append(operation) }
        return operations
    }
}

private struct RecordReader {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> FileOperation? {
        guard position + 32 <= bytes.count else { return nil }
        let kind = number(UInt32.self, at: 0)
        let nameLength = Int(number(UInt32.self, at: 4))
        let inode = number(UInt64.self, at: 8)
        let offset = Int(number(Int64.self, at: 16))
        let length = Int(number(UInt64.self, at: 24))
        let name = position + 32
        guard name + nameLength + length <= bytes.count else { return nil }
        defer { position = name + nameLength + length }
        let names = bytes[name..<name + nameLength].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        let data = Array(bytes[(name + nameLength)..<(name + nameLength + length)])
        switch kind {
        case 1: return .create(path: names[0], inode: inode)
        case 2: return .write(inode: inode, offset: offset, bytes: data)
        case 3: return .truncate(inode: inode, length: offset)
        case 4: return .sync(inode: inode, path: names[0])
        case 5: return .rename(from: names[0], to: names[1])
        case 6: return .link(from: names[0], to: names[1])
        case 7: return .unlink(path: names[0])
        case 8: return .makeFolder(path: names[0])
        default: return nil
        }
    }

    private func number<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) -> Number {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position + offset, as: type) }
    }
}
