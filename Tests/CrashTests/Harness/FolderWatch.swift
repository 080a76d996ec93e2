import CLibrary
import Foundation
import PipelineTestKit

/// Tells when something changes in a folder (inotify(7)): for files that another process writes.
final class FolderWatch {
    private let descriptor: Int32

    /// The folder is made when it is not there.
    init(_ folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        let mask = UInt32(IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_DELETE)
        guard descriptor >= 0, inotify_add_watch(descriptor, folder, mask) >= 0 else {
            throw CocoaError(.fileReadUnknown)
        }
    }

    deinit { close(descriptor) }

    /// Returns once it is so, looking again after each change; false when nothing changes for half a minute.
    func until(_ isSo: () -> Bool) async -> Bool {
        while !isSo() {
            let isInTime = await withCheckedContinuation { continuation in
                Thread.detachNewThread { [descriptor] in
                    var waits = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    var buffer = [UInt8](repeating: 0, count: 4096)
                    let count = poll(&waits, 1, 30_000)
                    if count > 0 { _ = read(descriptor, &buffer, buffer.count) }
                    continuation.resume(returning: count > 0)
                }
            }
            if !isInTime { return false }
        }
        return true
    }
}
