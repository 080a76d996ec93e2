import CLibrary
import Foundation
import NetworkTasks
import PipelineTestKit
import Testing

@testable import PipelineHTTP

/// OpenSSL's exit handler frees what other threads still use: those of transports, and any that ends at that time.
@Suite("The end of the process")
struct ExitTests {
    @Test("in the middle of transfers is an orderly one", arguments: 1...5)
    func exiting(count: Int) async {
        await #expect(processExitsWith: .exitCode(7)) {
            let server = try LoopbackServer { _ in .filled(1 << 40) }
            let network = Network(transport: CurlTransport())
            let running = Gate()
            for _ in 0..<8 {
                let sink = FileSink(onBytes: { _ in running.open() }) { _ in
                    .writeToFile(path: "/dev/null", offset: 0)
                }
                _ = network.task(RequestDescription(url: server.url), options: ExchangeOptions(receive: .file(sink)))
            }
            await running.wait()
            exit(7)
        }
    }

    @Test("leaves OpenSSL as it is")
    func keeping() async {
        await #expect(processExitsWith: .exitCode(7)) {
            // Handlers run in the opposite order of their setting: this one after all that libraries set.
            atexit {
                let library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_NOLOAD)
                let begin = dlsym(library, "OPENSSL_init_crypto").map {
                    unsafeBitCast($0, to: (@convention(c) (UInt64, UnsafeRawPointer?) -> Int32).self)
                }
                // OPENSSL_INIT_BASE_ONLY: no more than whether it is still there.
                _exit(begin?(0x0004_0000, nil) == 1 ? 7 : 8)
            }
            let server = try LoopbackServer { _ in .json("{}") }
            let network = Network(transport: CurlTransport())
            _ = try await network.task(RequestDescription(url: server.url), options: ExchangeOptions()).value
            exit(0)
        }
    }
}
