#if os(Linux)
    import CLibrary
    import Foundation

    /// A file system in memory that is mounted for a test, gone with the value; only root may, and not in every sandbox.
    package final class SmallDisk: Sendable {
        package static let isPossible = (try? SmallDisk(kilobytes: 64)) != nil

        private let folder = TemporaryFolder()
        /// The folder in which it is mounted.
        package var path: String { folder.path }

        package init(kilobytes: Int) throws {
            guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(kilobytes)k,mode=0700") == 0 else {
                throw POSIXError(.EPERM)
            }
        }

        deinit { umount2(folder.path, Int32(MNT_DETACH)) }

        /// Gives it another size; false where that can't be.
        package func resize(kilobytes: Int) -> Bool {
            mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(kilobytes)k,mode=0700") == 0
        }

        /// False where that can't be.
        package func makeReadOnly() -> Bool { mount("tmpfs", path, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 }
    }
#endif
