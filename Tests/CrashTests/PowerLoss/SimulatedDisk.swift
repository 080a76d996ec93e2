import Foundation
import PipelineTestKit

/// What a disk holds while a program writes: what was synced, and what waits in memory and may be lost.
///
/// Stricter than most file systems: the name of a new file is durable only once its folder is synced, and data that was
/// not synced can be lost in any part, by sectors. Changes of names keep their order, as file systems with a journal do
/// it.
struct SimulatedDisk {
    /// What becomes of changes that were not synced when the power goes.
    enum Loss: Sendable, CaseIterable {
        /// All are lost.
        case everything
        /// None is: as after a kill.
        case nothing
        /// Some are, and some writes in part.
        case some
    }

    private enum Entry {
        case file(Int)
        case folder
    }

    private struct Node {
        var durable: [UInt8] = []
        var pending: [Change] = []
    }

    private enum Change {
        case write(Int, [UInt8])
        case truncate(Int)
    }

    private struct NameChange {
        let folder: String
        let apply: (inout [String: Entry]) -> Void
    }

    private var nodes: [Node] = []
    /// The node that an inode's number means now; numbers come again.
    private var inodes: [UInt64: Int] = [:]
    private var names: [String: Entry] = [:]
    private var durableNames: [String: Entry] = [:]
    private var pendingNames: [NameChange] = []

    /// A disk on which the program did the operations, and nothing before.
    init(_ operations: [FileOperation]) {
        for operation in operations { perform(operation) }
    }

    private mutating func perform(_ operation: FileOperation) {
        switch operation {
        case .create(let path, let inode):
            nodes.append(Node())
            inodes[inode] = nodes.count - 1
            let node = nodes.count - 1
            change(path) { $0[path] = .file(node) }
        case .makeFolder(let path): change(path) { $0[path] = .folder }
        case .write(let inode, let offset, let bytes):
            if let node = inodes[inode] { nodes[node].pending.append(.write(offset, bytes)) }
        case .truncate(let inode, let length):
            if let node = inodes[inode] { nodes[node].pending.append(.truncate(length)) }
        case .rename(let old, let new):
            guard let entry = names[old] else { return }
            change(new) { names in
                names[old] = nil
                names[new] = entry
            }
        case .link(let old, let new):
            guard let entry = names[old] else { return }
            change(new) { $0[new] = entry }
        case .unlink(let path): change(path) { $0[path] = nil }
        case .sync(let inode, let path): sync(inode, path)
        }
    }

    private mutating func change(_ path: String, _ apply: @escaping (inout [String: Entry]) -> Void) {
        apply(&names)
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        pendingNames.append(NameChange(folder: folder, apply: apply))
    }

    private mutating func sync(_ inode: UInt64, _ path: String) {
        if let node = inodes[inode] {
            for change in nodes[node].pending { Self.apply(change, to: &nodes[node].durable) }
            nodes[node].pending = []
        }
        for change in pendingNames where change.folder == path { change.apply(&durableNames) }
        pendingNames.removeAll { $0.folder == path }
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let length):
            bytes = Array(bytes.prefix(length)) + Array(repeating: 0, count: max(0, length - bytes.count))
        case .write(let offset, let data):
            if bytes.count < offset + data.count {
                bytes += Array(repeating: 0, count: offset + data.count - bytes.count)
            }
            bytes.replaceSubrange(offset..<offset + data.count, with: data)
        }
    }
}

extension SimulatedDisk {
    /// Makes the folders hold what the disk holds after the power went.
    func restore(_ folders: [String], keeping: [String], _ loss: Loss, _ randomness: SeededRandomness) throws {
        for folder in folders { try? FileManager.default.removeItem(atPath: folder) }
        let names = names(after: loss, randomness)
        let isPrivate: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        for folder in keeping {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: isPrivate)
        }
        // A folder comes before what is in it.
        for (path, entry) in names.sorted(by: { $0.key < $1.key }) {
            guard FileManager.default.fileExists(atPath: (path as NSString).deletingLastPathComponent) else { continue }
            switch entry {
            case .folder:
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false, attributes: isPrivate)
            case .file(let node):
                _ = FileManager.default.createFile(
                    atPath: path, contents: Data(bytes(of: nodes[node], after: loss, randomness)),
                    attributes: [.posixPermissions: 0o600])
            }
        }
    }

    private func names(after loss: Loss, _ randomness: SeededRandomness) -> [String: Entry] {
        let kept =
            switch loss {
            case .everything: 0
            case .nothing: pendingNames.count
            case .some: randomness.number(in: 0...pendingNames.count)
            }
        var names = durableNames
        for change in pendingNames.prefix(kept) { change.apply(&names) }
        return names
    }

    private func bytes(of node: Node, after loss: Loss, _ randomness: SeededRandomness) -> [UInt8] {
        var bytes = node.durable
        guard loss != .everything else { return bytes }
        for change in node.pending {
            if loss == .nothing {
                Self.apply(change, to: &bytes)
            } else if let part = part(of: change, randomness) {
                Self.apply(part, to: &bytes)
            }
        }
        return bytes
    }

    /// Returns what is left of a change that was not synced: all, nothing, or the first sectors of a write.
    private func part(of change: Change, _ randomness: SeededRandomness) -> Change? {
        guard randomness.chance(0.5) else { return nil }
        guard case .write(let offset, let data) = change, data.count > 512, randomness.chance(0.5) else {
            return change
        }
        return .write(offset, Array(data.prefix(512 * randomness.number(in: 1...data.count / 512))))
    }
}
