import CLibrary
import HTTPTypes
import NetworkTasks
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineHTTP

@Suite("Limits of a service")
struct ServiceLimitTests {
    private let network = Network(transport: CurlTransport())

    @Test("no more exchanges at a time with one origin than its connections allow, over all who name the service")
    func connections() async throws {
        let go = Gate()
        let server = try LoopbackServer { ScriptedAnswer([.wait(go), .send(200, [], Array($0.target.utf8))]) }
        defer { server.stop() }
        let options = ExchangeOptions(limits: ServiceLimits(service: "studio", connections: 2))
        let tasks = (0..<6).map { network.task(RequestDescription(url: "\(server.url)/\($0)"), options: options) }
        _ = await server.requests(atLeast: 2)
        // Who names no service with limits is not held up by it.
        let free = network.task(RequestDescription(url: "\(server.url)/free"))
        _ = await server.requests(atLeast: 3)
        #expect(server.requests.filter { $0.target != "/free" }.count == 2)
        go.open()
        for (number, task) in tasks.enumerated() { #expect(try await task.value.body == Array("/\(number)".utf8)) }
        #expect(try await free.value.status == 200)
        #expect(server.requests.count == 7)
    }

    @Test("requests begin no faster than their number per second, and one that is cancelled takes no turn")
    func requestsPerSecond() async throws {
        let server = try LoopbackServer { .status(200, body: $0.target) }
        defer { server.stop() }
        let clock = ContinuousClock()
        let start = clock.now
        let options = ExchangeOptions(limits: ServiceLimits(service: "studio", requestsPerSecond: 20))
        let tasks = (0..<10).map { network.task(RequestDescription(url: "\(server.url)/\($0)"), options: options) }
        tasks[5].cancel()
        for (number, task) in tasks.enumerated() where number != 5 {
            #expect(try await task.value.body == Array("/\(number)".utf8))
        }
        // Nine begin, the first at once: eight pauses of 50 ms.
        #expect(clock.now - start >= .milliseconds(400))
        #expect(server.requests.count == 9)
    }

    @Test("a turn that was taken first has one of the connections, and lets its exchange through")
    func turns() async throws {
        let server = try LoopbackServer { .status(200, body: $0.target) }
        defer { server.stop() }
        let limits = ServiceLimits(service: "studio", connections: 1)
        var turn = try await network.transport.turn(at: server.url, limits)
        let waiting = network.task(
            RequestDescription(url: "\(server.url)/later"), options: ExchangeOptions(limits: limits))
        let (transport, url) = (network.transport, server.url)
        let second = Task { try await transport.turn(at: url, limits) }
        var options = ExchangeOptions(limits: limits)
        options.turn = turn
        for _ in 0..<3 {
            #expect(try await network.exchange(RequestDescription(url: server.url), options: options).status == 200)
        }
        #expect(!waiting.isFinished)
        second.cancel()
        await #expect(throws: ExchangeFailure.self) { try await second.value }
        turn = nil
        options.turn = nil
        #expect(try await waiting.value.status == 200)
        #expect(server.requests.map(\.target).last == "/later")
        #expect(try await transport.turn(at: url, ServiceLimits(service: "other")) == nil)
    }

    @Test("who is more urgent gets the next turn before those that wait, one after the other")
    func urgency() {
        var queue = ExchangeQueue(CurlConfiguration())
        let limits = ServiceLimits(service: "studio", connections: 1)
        for (id, urgency) in [(1, 0), (2, 0), (3, 0), (4, 1), (5, 1), (6, 0), (7, 2), (8, 1), (9, 2)] {
            var limits = limits
            limits.urgency = urgency
            #expect(queue.enter(UInt64(id), origin: "a", limits: limits, at: .zero) == (id == 1))
        }
        var order: [UInt64] = [1]
        while let last = order.last, order.count < 12 {
            queue.leave(last)
            guard let next = queue.next(at: .zero) else { break }
            order.append(next)
        }
        #expect(order == [1, 7, 9, 4, 5, 8, 2, 3, 6])
    }

    @Test("time spent waiting for a turn is not taken from an exchange's own limit")
    func waitingIsFree() async throws {
        let server = try LoopbackServer { .status(200, body: $0.target) }
        defer { server.stop() }
        let options = ExchangeOptions(
            totalTimeout: .milliseconds(400), limits: ServiceLimits(service: "studio", requestsPerSecond: 5))
        let tasks = (0..<4).map { network.task(RequestDescription(url: "\(server.url)/\($0)"), options: options) }
        for task in tasks { #expect(try await task.value.status == 200) }
    }

    @Test("the rate of sending is shared by all transfers to the service", arguments: [1, 3])
    func sendRate(transfers: Int) async throws {
        let server = try LoopbackServer(keptBodyBytes: 0) { .status(200, body: "\($0.bodyCount)") }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let size: Int64 = 600_000 / Int64(transfers)
        let path = folder.sparse("source", size)
        let options = ExchangeOptions(limits: ServiceLimits(service: "studio", sendRate: 1_000_000))
        let time = try await time {
            try await all(transfers) {
                let body = RequestBody.file(path: path, offset: 0, length: size)
                let request = RequestDescription(method: .put, url: server.url, body: body)
                let answer = try await network.exchange(request, options: options)
                #expect(answer.body == Array("\(size)".utf8))
            }
        }
        // 100 KB may go at once, the rest takes its time.
        #expect(time >= .milliseconds(450))
    }

    @Test("the rate of sending holds for many small bodies, not for large ones alone")
    func smallBodies() async throws {
        let server = try LoopbackServer { .status(200, body: "\($0.body.count)") }
        defer { server.stop() }
        let options = ExchangeOptions(limits: ServiceLimits(service: "studio", sendRate: 1_000_000))
        let time = try await time {
            try await all(30) {
                let body = RequestBody.bytes([UInt8](repeating: 65, count: 20_000))
                let request = RequestDescription(method: .post, url: server.url, body: body)
                let answer = try await network.exchange(request, options: options)
                #expect(answer.body == Array("20000".utf8))
            }
        }
        #expect(time >= .milliseconds(450))
    }

    @Test("the rate of receiving is shared by all transfers from the service", arguments: [1, 3])
    func receiveRate(transfers: Int) async throws {
        let size: Int64 = 600_000 / Int64(transfers)
        let server = try LoopbackServer { _ in .filled(size) }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let names = Mutex(0)
        let time = try await time {
            try await all(transfers) {
                let name = names.withLock {
                    $0 += 1; return "\($0)"
                }
                let options = ExchangeOptions(
                    limits: ServiceLimits(service: "studio", receiveRate: 1_000_000),
                    receive: .file(FileSink(path: folder.file(name))))
                let answer = try await network.exchange(RequestDescription(url: server.url), options: options)
                #expect(answer.bytesReceived == size)
                #expect(folder.size(name) == size)
            }
        }
        #expect(time >= .milliseconds(350))
    }

    @Test("while sending is held back an answer before the final one is read at once")
    func informedWhileHeld() async throws {
        let informed = Gate()
        let server = try LoopbackServer.beforeBody { _ in
            ScriptedAnswer([.inform(104, [("Upload-Offset", "1")]), .readBody, .send(200, [], [])])
        }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let body = RequestBody.file(path: folder.sparse("source", 10 << 20), offset: 0, length: 10 << 20)
        let options = ExchangeOptions(
            limits: ServiceLimits(service: "studio", sendRate: 20_000), onInformational: { _, _ in informed.open() })
        let task = network.task(RequestDescription(method: .put, url: server.url, body: body), options: options)
        await informed.wait()
        task.cancel()
        let failure = await task.result.failure
        #expect(failure?.reason == .cancelled)
        #expect((failure?.requestBytesSent ?? .max) < 1 << 20)
    }

    @Test("a transfer below the set rate for the set time is cut, and may be tried again")
    func stall() async throws {
        let server = try LoopbackServer.beforeBody { request in
            request.method == "GET"
                ? ScriptedAnswer([
                    .head(200, [("Content-Length", "1000")]),
                    .slowly([UInt8](repeating: 65, count: 1000), milliseconds: 40),
                ])
                : ScriptedAnswer([.stall])
        }
        defer { server.stop() }
        let options = ExchangeOptions(stall: StallRule(bytesPerSecond: 1000, time: .milliseconds(400)))
        let down = await network.task(RequestDescription(url: server.url), options: options).result.failure
        #expect(down?.reason == .timedOut(.stall))
        #expect(down?.isRetryable == true)
        let body = RequestBody.bytes([UInt8](repeating: 0, count: 32 << 20))
        let put = RequestDescription(method: .put, url: server.url, body: body)
        #expect(await network.task(put, options: options).result.failure?.reason == .timedOut(.stall))
    }

    @Test("a service that thinks about its answer has not stalled, nor a transfer that a rate of ours holds back")
    func noStall() async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        let server = try LoopbackServer { _ in ScriptedAnswer([.slowly(head, milliseconds: 20)]) }
        defer { server.stop() }
        let options = ExchangeOptions(
            stall: StallRule(bytesPerSecond: 1_000_000, time: .milliseconds(200)),
            limits: ServiceLimits(service: "studio", sendRate: 200_000))
        let folder = TemporaryFolder()
        let body = RequestBody.file(path: folder.sparse("source", 120_000), offset: 0, length: 120_000)
        let request = RequestDescription(method: .put, url: server.url, body: body)
        #expect(try await network.exchange(request, options: options).status == 200)
    }

    /// A submit whose service kept its connection alive was cut, and unknown.
    @Test(
        "a service that sends white space while it works at its answer has not stalled; a file that comes so slowly has"
    )
    func keptAlive() async throws {
        let body = String(repeating: "1\r\n \r\n", count: 20) + "2\r\n{}\r\n0\r\n\r\n"
        let head = ScriptedAnswer.Step.head(200, [("Transfer-Encoding", "chunked")])
        let server = try LoopbackServer { request in
            if request.path == "/silent" { return ScriptedAnswer([head, .chunk([0x7B]), .stall]) }
            return ScriptedAnswer([head, .slowly(Array(body.utf8), milliseconds: 10)])
        }
        defer { server.stop() }
        let folder = TemporaryFolder()
        var options = ExchangeOptions(stall: StallRule(bytesPerSecond: 1000, time: .milliseconds(300)))
        let request = RequestDescription(method: .post, url: server.url)
        let answer = try await network.exchange(request, options: options)
        #expect(String(decoding: answer.body, as: UTF8.self) == String(repeating: " ", count: 20) + "{}")
        let silent = await network.task(RequestDescription(url: server.url + "/silent"), options: options).result
            .failure
        #expect(silent?.reason == .timedOut(.stall))
        options.receive = .file(FileSink(path: folder.file("file")))
        let down = await network.task(RequestDescription(url: server.url), options: options).result.failure
        #expect(down?.reason == .timedOut(.stall))
    }

    @Test("time in which we do not read is no stall of the service's")
    func ownAbsence() async throws {
        let begun = Gate()
        let seen = Mutex(false)
        let body = [UInt8](repeating: 65, count: 50_000)
        let server = try LoopbackServer { _ in
            ScriptedAnswer([
                .readBody, .head(200, [("Content-Length", "100000")]), .bytes(body), .wait(begun), .bytes(body),
            ])
        }
        defer { server.stop() }
        let options = ExchangeOptions(
            idleTimeout: .milliseconds(300), stall: StallRule(bytesPerSecond: 1_000_000, time: .milliseconds(300)),
            onProgress: { progress in
                guard progress.received > 0,
                    !seen.withLock({ was in
                        defer { was = true }; return was
                    })
                else { return }
                // The thread that reads does something else for longer than a service may be silent.
                usleep(900_000)
                begun.open()
            })
        let answer = try await network.exchange(RequestDescription(url: server.url), options: options)
        #expect(answer.body.count == 100_000)
    }

    private func time(_ work: () async throws -> Void) async rethrows -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        try await work()
        return clock.now - start
    }

    private func all(_ count: Int, _ work: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<count { group.addTask { try await work() } }
            try await group.waitForAll()
        }
    }
}
