import Foundation
import NetworkTasks
import PipelineTestKit
import Testing

@testable import PipelineHTTP

/// A transport's thread that still closed its connections read what OpenSSL's exit handler had freed.
@Suite("The end of the process")
struct ExitGateTests {
    @Test("waits for those who are inside of libcurl, and lets nobody else in")
    func closing() async {
        let gate = ExitGate()
        #expect(gate.enter())
        #expect(gate.enter())
        gate.leave()
        let closed = Gate()
        Thread.detachNewThread {
            gate.close()
            closed.open()
        }
        while gate.enter() { gate.leave() }
        #expect(!closed.isOpen)
        gate.leave()
        await closed.wait()
        #expect(!gate.enter())
    }

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
}
