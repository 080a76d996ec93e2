import Foundation
import HTTPTypes
import NetworkTasks
import PipelineHTTP
import PipelineTestKit
import SeededNumbers
import Synchronization
import Testing

@Suite("Cancelling")
struct CancellationTests {
    let transport = CurlTransport()
    var network: Network { Network(transport: transport) }

    @Test("before the start nothing is sent")
    func beforeStart() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let entered = Gate()
        let task = network.task(RequestDescription(url: server.url), decorators: [HeldBack(entered: entered)])
        await entered.wait()
        task.cancel()
        #expect(await task.result == .failure(.cancelled()))
        // A request that comes later is the first one that the server sees.
        _ = try await network.exchange(RequestDescription(url: server.url + "/second"))
        #expect(server.requests.map(\.target) == ["/second"])
    }

    @Test("a request that may not begin is held back when the connection stands: the server sees nothing of it")
    func heldBack() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let asked = Mutex(0)
        let options = ExchangeOptions(
            freshConnection: true,
            mayBegin: {
                asked.withLock { $0 += 1 }
                return false
            })
        let request = RequestDescription(method: .post, url: server.url + "/first", body: .bytes([1, 2, 3]))
        let failure = await transport.start(request, options: options).result.failure
        #expect(failure?.reason == .cancelled)
        #expect(failure?.connectionMade == false)
        #expect(asked.withLock { $0 } == 1)
        _ = try await network.exchange(RequestDescription(url: server.url + "/second"))
        #expect(server.requests.map(\.target) == ["/second"])
    }

    @Test("right after the start: the value is the cancelled failure or, once it is there, the answer")
    func atStart() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        for _ in 0..<50 {
            let task = transport.start(RequestDescription(url: server.url), options: ExchangeOptions())
            task.cancel()
            let result = await task.result
            #expect(result.failure?.reason == .cancelled || (try? result.get().status) == 200)
        }
    }

    @Test("while it runs it ends at once, and the connection with it")
    func whileRunning() async throws {
        let closed = Gate()
        let server = try LoopbackServer.beforeBody { _ in
            // The body never comes whole: reading it ends when the client cuts the connection.
            ScriptedAnswer([.readBody, .then { _ in .status(200) }])
        }
        defer { server.stop() }
        let options = ExchangeOptions(maximumSendRate: 100_000, onProgress: { if $0.sent > 0 { closed.open() } })
        let body = RequestBody.bytes([UInt8](repeating: 0, count: 64 << 20))
        let task = transport.start(RequestDescription(method: .put, url: server.url, body: body), options: options)
        await closed.wait()
        task.cancel()
        let failure = await task.result.failure
        #expect(failure?.reason == .cancelled)
        #expect(failure?.connectionMade == true)
        #expect((failure?.requestBytesSent ?? 0) > 0)
        #expect(task.isCancelled)
    }

    @Test("after the end nothing changes")
    func afterEnd() async throws {
        let server = try LoopbackServer { _ in .status(200, body: "done") }
        defer { server.stop() }
        let task = transport.start(RequestDescription(url: server.url), options: ExchangeOptions())
        let answer = try await task.value
        task.cancel()
        task.cancel()
        #expect(try await task.value == answer)
        #expect(!task.isCancelled)
    }

    @Test("the Swift task that awaits takes the exchange with it")
    func structured() async throws {
        let server = try LoopbackServer { _ in .silence }
        defer { server.stop() }
        let work = Task { [network] in try await network.exchange(RequestDescription(url: server.url)) }
        _ = await server.requests(atLeast: 1)
        work.cancel()
        let failure = await #expect(throws: ExchangeFailure.self) { try await work.value }
        #expect(failure?.reason == .cancelled)
    }

    @Test("during a name lookup it does not wait for the name server", .timeLimit(.minutes(1)))
    func duringLookup() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let tasks = (0..<20).map { number in
            transport.start(RequestDescription(url: "http://host-\(number).invalid/"), options: ExchangeOptions())
        }
        // An exchange that ended was begun after the lookups.
        _ = try await network.exchange(RequestDescription(url: server.url))
        for task in tasks { task.cancel() }
        for task in tasks {
            let reason = await task.result.failure?.reason
            #expect(reason == .cancelled || reason == .nameNotResolved)
        }
    }

    @Test("two hundred tasks cancelled at random moments from other threads: each value comes exactly once")
    func stress() async throws {
        let server = try LoopbackServer(keptBodyBytes: 0) { request in
            switch request.number % 5 {
            case 0: .filled(3 << 20)
            case 1: .silence
            case 2: .chunked((0..<50).map { "piece \($0)" })
            case 3: .reset()
            default: .status(200, body: "ok")
            }
        }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let source = try folder.filled("source", 400_000)
        let finished = Recorder<UInt64>()
        var tasks: [ExchangeTask] = []
        for number in 0..<200 {
            let isUpload = number % 2 == 0
            let body: RequestBody = isUpload ? .file(path: source, offset: 0, length: 400_000) : .none
            let sink: ResponseSink = number % 3 == 0 ? .file(FileSink(path: folder.file("\(number)"))) : .memory
            tasks.append(
                transport.start(
                    RequestDescription(method: isUpload ? .put : .get, url: server.url, body: body),
                    options: ExchangeOptions(receive: sink)))
        }
        await withTaskGroup { group in
            for task in tasks {
                for _ in 0..<3 {
                    group.addTask {
                        _ = await task.result
                        finished.add(task.id)
                    }
                }
            }
            let all = tasks
            for thread in 0..<4 {
                Thread.detachNewThread {
                    var random = SplitMix64(seed: UInt64(thread + 1))
                    for task in all.shuffled(using: &random) {
                        for _ in 0..<random.next() % 3000 { withExtendedLifetime(task) {} }
                        task.cancel()
                    }
                }
            }
        }
        let counts = Dictionary(finished.values.map { ($0, 1) }, uniquingKeysWith: +)
        #expect(counts.count == 200)
        #expect(counts.values.allSatisfy { $0 == 3 })
        let results = await tasks.asyncMap { await $0.result }
        #expect(results.allSatisfy { $0.failure.map { $0.reason == .cancelled || $0.isRetryable } ?? true })
        // The transport still works.
        let after = try LoopbackServer { _ in .status(200) }
        defer { after.stop() }
        #expect(try await network.exchange(RequestDescription(url: after.url)).status == 200)
    }
}

/// A decorator that takes until its task is cancelled.
struct HeldBack: RequestDecorator {
    let entered: Gate
    var phase: DecorationPhase { .shape }

    func decorate(_ request: inout RequestDescription, in context: DecorationContext) async throws(RequestFailure) {
        let held = Gate()
        await withTaskCancellationHandler {
            entered.open()
            await held.wait()
        } onCancel: {
            held.open()
        }
    }
}

/// What was recorded from any thread, in order.
final class Recorder<Value: Sendable>: Sendable {
    private let recorded = Mutex<[Value]>([])

    func add(_ value: Value) { recorded.withLock { $0.append(value) } }
    var values: [Value] { recorded.withLock { $0 } }
}

extension Array {
    func asyncMap<T>(_ transform: (Element) async -> T) async -> [T] {
        var result: [T] = []
        for element in self { result.append(await transform(element)) }
        return result
    }
}
