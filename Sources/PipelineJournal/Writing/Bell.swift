import CLibrary
import Dispatch

/// A bell that one thread waits for and any rings.
///
/// It waits by a clock that nobody sets (CLOCK_MONOTONIC). Dispatch's semaphores wait by the time of day on Linux
/// (sem_timedwait(3)): where that is set back meanwhile, a wait of a millisecond lasts for as long as it was set back.
final class Bell: Sendable {
    #if canImport(Darwin)
        private let semaphore = DispatchSemaphore(value: 0)

        func ring() { semaphore.signal() }

        /// Returns whether it was rung in so many microseconds; without a number it waits until it is.
        @discardableResult func wait(microseconds: Int? = nil) -> Bool {
            semaphore.wait(timeout: microseconds.map { .now() + .microseconds($0) } ?? .distantFuture) == .success
        }
    #else
        private struct Parts {
            var mutex = pthread_mutex_t()
            var condition = pthread_cond_t()
            /// The rings that no wait has taken.
            var rings = 0
        }

        // What may be touched by one thread at a time is so under its own mutex.
        nonisolated(unsafe) private let parts = UnsafeMutablePointer<Parts>.allocate(capacity: 1)

        init() {
            parts.initialize(to: Parts())
            pthread_mutex_init(&parts.pointee.mutex, nil)
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(&parts.pointee.condition, &attributes)
            pthread_condattr_destroy(&attributes)
        }

        deinit {
            pthread_cond_destroy(&parts.pointee.condition)
            pthread_mutex_destroy(&parts.pointee.mutex)
            parts.deinitialize(count: 1)
            parts.deallocate()
        }

        func ring() {
            pthread_mutex_lock(&parts.pointee.mutex)
            parts.pointee.rings += 1
            pthread_mutex_unlock(&parts.pointee.mutex)
            // Not before: who wakes would at once wait for the mutex.
            pthread_cond_signal(&parts.pointee.condition)
        }

        /// Returns whether it was rung in so many microseconds; without a number it waits until it is.
        @discardableResult func wait(microseconds: Int? = nil) -> Bool {
            let end = microseconds.map { Self.time(after: $0) }
            pthread_mutex_lock(&parts.pointee.mutex)
            defer { pthread_mutex_unlock(&parts.pointee.mutex) }
            while parts.pointee.rings == 0 {
                if var end {
                    let result = pthread_cond_timedwait(&parts.pointee.condition, &parts.pointee.mutex, &end)
                    if result == ETIMEDOUT, parts.pointee.rings == 0 { return false }
                } else {
                    pthread_cond_wait(&parts.pointee.condition, &parts.pointee.mutex)
                }
            }
            parts.pointee.rings -= 1
            return true
        }

        private static func time(after microseconds: Int) -> timespec {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            let nanoseconds = time.tv_nsec + microseconds * 1000
            time.tv_sec += nanoseconds / 1_000_000_000
            time.tv_nsec = nanoseconds % 1_000_000_000
            return time
        }
    #endif
}
