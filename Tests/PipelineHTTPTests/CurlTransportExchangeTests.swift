import CLibrary
import CCurl
import HTTPTypes
import NetworkTasks
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@Suite("Exchanges over libcurl")
struct CurlTransportExchangeTests {
    let network = Network(transport: CurlTransport())

    @Test("an answer of any status is a value, with its fields and body", arguments: [200, 404, 503])
    func statusIsAValue(status: Int) async throws {
        let server = try LoopbackServer { _ in
            .status(status, headers: [("X-Kind", "a"), ("X-Kind", "b")], body: "hello")
        }
        defer { server.stop() }
        let answer = try await network.exchange(RequestDescription(url: server.url + "/path?q=1"))
        #expect(answer.status == status)
        #expect(answer.body == Array("hello".utf8))
        #expect(answer.header("x-kind") == "a, b")
        #expect(answer.url == server.url + "/path?q=1")
        #expect(answer.bytesReceived == 5)
        #expect(server.requests.map(\.target) == ["/path?q=1"])
    }

    @Test("an answer has one head, whatever its trailers look like", arguments: ["HTTP/1.1: 404", "HTTP/1.1 404 X: y"])
    func secondHead(trailer: String) async throws {
        let server = try LoopbackServer { _ in
            ScriptedAnswer([
                .head(200, [("Transfer-Encoding", "chunked")]), .chunk(Array("onetwo".utf8)),
                .bytes(Array("0\r\n\(trailer)\r\nX-Sum: 6\r\n \r\n\r\n".utf8)),
            ])
        }
        defer { server.stop() }
        let heads = Mutex(0)
        let sink = FileSink { _ in
            heads.withLock { $0 += 1 }
            return .memory
        }
        let answer = try await network.exchange(
            RequestDescription(url: server.url), options: ExchangeOptions(receive: .file(sink)))
        #expect(answer.status == 200)
        #expect(answer.body == Array("onetwo".utf8))
        #expect(answer.trailers[.init("X-Sum")!] == "6")
        #expect(heads.withLock { $0 } == 1)
    }

    @Test(
        "each method goes out as it is, with an exact length and without Expect",
        arguments: [HTTPRequest.Method.post, .put, .patch, .delete, .get])
    func methods(method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { .status(200, body: $0.method) }
        defer { server.stop() }
        for size in [0, 10, 100_000] {
            let body = [UInt8](repeating: 7, count: size)
            let answer = try await network.exchange(
                RequestDescription(method: method, url: server.url, body: .bytes(body)))
            #expect(answer.body == Array(method.rawValue.utf8))
            #expect(answer.bytesSent == Int64(size))
        }
        for request in server.requests {
            #expect(request.header("Expect") == nil)
            #expect(request.header("Transfer-Encoding") == nil)
            #expect(request.header("Content-Type") == nil)
        }
        #expect(server.requests.map(\.contentLength) == [0, 10, 100_000])
        #expect(server.requests.map(\.bodyCount) == [0, 10, 100_000])
    }

    @Test("a new connection tells its round trip, and one that was there before tells nothing")
    func connected() async throws {
        let server = try LoopbackServer { _ in .status(204) }
        defer { server.stop() }
        let roundTrips = Mutex<[Duration]>([])
        var options = ExchangeOptions()
        options.onConnected = { roundTrip in roundTrips.withLock { $0.append(roundTrip) } }
        for _ in 0..<2 {
            _ = try await network.exchange(RequestDescription(url: server.url), options: options)
        }
        let found = roundTrips.withLock(\.self)
        #expect(found.count == 1)
        #expect(try #require(found.first) < .seconds(5))
    }

    #if os(Linux)
        /// No path on this machine is far, so the options are set as they are set there.
        @Test("a connection over a far path is paced, and holds little that has not gone out")
        func farPath() throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            func option(_ level: Int32, _ name: Int32) -> UInt32? {
                var value: UInt32 = 0
                var length = socklen_t(MemoryLayout<UInt32>.size)
                return getsockopt(descriptor, level, name, &value, &length) == 0 ? value : nil
            }
            #expect(option(SOL_SOCKET, SO_MAX_PACING_RATE) == UInt32.max)
            ccurl_fit_far_path(descriptor)
            #expect(option(SOL_SOCKET, SO_MAX_PACING_RATE) == UInt32.max - 1)
            #expect(option(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT) == 512 << 10)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            let bound = withUnsafeBytes(of: &address) {
                bind(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
            }
            #expect(bound == 0)
            #expect(ccurl_local_port(descriptor) > 0)
            #expect(ccurl_local_port(-1) == -1)
        }
    #endif

    @Test("a request without a body says so only where a server expects a length")
    func bodiless() async throws {
        let server = try LoopbackServer { _ in .status(204) }
        defer { server.stop() }
        for method in [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete, .options] {
            let answer = try await network.exchange(RequestDescription(method: method, url: server.url))
            #expect(answer.status == 204)
        }
        #expect(server.requests.map(\.method) == ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        #expect(server.requests.map { $0.header("Content-Length") } == [nil, nil, "0", "0", "0", nil, nil])
        #expect(server.requests.allSatisfy { $0.header("Content-Type") == nil })
    }

    @Test("fields after a chunked body are kept apart")
    func trailers() async throws {
        let server = try LoopbackServer { _ in .chunked(["ab", "c"], trailers: [("Repr-Digest", "sha-256=:x:")]) }
        defer { server.stop() }
        let answer = try await network.exchange(RequestDescription(url: server.url))
        #expect(answer.body == Array("abc".utf8))
        #expect(answer.trailers[HTTPField.Name("Repr-Digest")!] == "sha-256=:x:")
    }

    @Test("many small exchanges share one connection")
    func reuse() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        for _ in 0..<20 { _ = try await network.exchange(RequestDescription(url: server.url)) }
        #expect(server.connectionCount == 1)
        _ = try await network.exchange(
            RequestDescription(url: server.url), options: ExchangeOptions(freshConnection: true))
        #expect(server.connectionCount == 2)
    }

    @Test("1xx answers are handed over as they arrive, while the body is still being sent")
    func informational() async throws {
        let server = try LoopbackServer.beforeBody { _ in
            ScriptedAnswer([
                .inform(104, [("Location", "/upload/1")]), .read(1000), .inform(104, [("Upload-Offset", "1000")]),
                .readBody, .send(201, [], []),
            ])
        }
        defer { server.stop() }
        let seen = Mutex<[String]>([])
        let options = ExchangeOptions(onInformational: { status, headers in
            seen.withLock { $0.append("\(status) \(headers.map { "\($0.name): \($0.value)" }.joined())") }
        })
        let answer = try await network.exchange(
            RequestDescription(method: .post, url: server.url, body: .bytes([UInt8](repeating: 0, count: 200_000))),
            options: options)
        #expect(answer.status == 201)
        #expect(answer.headers[.location] == nil)
        #expect(seen.withLock { $0 } == ["104 Location: /upload/1", "104 Upload-Offset: 1000"])
    }

    @Test("a 1xx answer reaches the caller before the final one exists")
    func informationalIsPrompt() async throws {
        let (informed, go) = (Gate(), Gate())
        let server = try LoopbackServer { _ in
            ScriptedAnswer([.inform(104, [("Location", "/u")]), .wait(go), .send(200, [], [])])
        }
        defer { server.stop() }
        let task = network.task(
            RequestDescription(url: server.url), options: ExchangeOptions(onInformational: { _, _ in informed.open() }))
        await informed.wait()
        #expect(!task.isFinished)
        go.open()
        #expect(try await task.value.status == 200)
    }

    @Test("a body in memory is asked for in codings unless told otherwise, and decoded in any case")
    func compression() async throws {
        // gzip of "hello"
        let packed: [UInt8] = [
            0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0, 0x86, 0xa6, 0x10, 0x36, 5,
            0, 0, 0,
        ]
        let server = try LoopbackServer { _ in .status(200, headers: [("Content-Encoding", "gzip")], bytes: packed) }
        defer { server.stop() }
        let asked = try await network.exchange(RequestDescription(url: server.url))
        let plain = try await network.exchange(
            RequestDescription(url: server.url), options: ExchangeOptions(acceptsCodings: false))
        var own = RequestDescription(url: server.url)
        own.headers[.acceptEncoding] = "gzip;q=0.5"
        let chosen = try await network.exchange(own)
        for answer in [asked, plain, chosen] { #expect(answer.body == Array("hello".utf8)) }
        let wanted = server.requests.map { $0.header("Accept-Encoding") }
        #expect(try #require(wanted[0]).contains("gzip") && #require(wanted[0]).contains("deflate"))
        #expect(wanted[1...] == ["identity", "gzip;q=0.5"])
    }

    @Test("onSent comes once, when the request is out and before the answer", arguments: [0, 10, 300_000])
    func sent(size: Int) async throws {
        let (sent, go) = (Gate(), Gate())
        let count = Mutex(0)
        let server = try LoopbackServer { _ in ScriptedAnswer([.wait(go), .send(200, [], [])]) }
        defer { server.stop() }
        let options = ExchangeOptions(onSent: {
            count.withLock { $0 += 1 }
            sent.open()
        })
        let body: RequestBody = size == 0 ? .none : .bytes([UInt8](repeating: 1, count: size))
        let task = network.task(RequestDescription(method: .post, url: server.url, body: body), options: options)
        await sent.wait()
        #expect(!task.isFinished)
        go.open()
        _ = try await task.value
        #expect(count.withLock { $0 } == 1)
    }

    @Test("a thousand exchanges at once on one transport all end")
    func thousand() async throws {
        let server = try LoopbackServer { .status(200, body: $0.target) }
        defer { server.stop() }
        let statuses = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<1000 {
                group.addTask { [network] in
                    let answer = try? await network.exchange(RequestDescription(url: "\(server.url)/\(number)"))
                    return answer?.body == Array("/\(number)".utf8)
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(statuses == 1000)
        #expect(server.requests.count == 1000)
        #expect(server.connectionCount <= 512)
    }

    @Test("exchanges beyond the limit wait for their turn, and waiting is no failure to connect", arguments: [1, 512])
    func limit(maximum: Int) async throws {
        let go = Gate()
        let server = try LoopbackServer { request in
            ScriptedAnswer([.wait(go), .send(200, [], Array(request.target.utf8))])
        }
        let silent = try LoopbackServer { _ in .silence }
        defer {
            server.stop()
            silent.stop()
        }
        let configuration = CurlConfiguration(
            maximumConnections: maximum, maximumConnectionsPerOrigin: maximum > 1 ? 1 : 0)
        let network = Network(transport: CurlTransport(configuration))
        let tasks = (0..<5).map { number in
            network.task(
                RequestDescription(url: "\(server.url)/\(number)"),
                options: ExchangeOptions(connectTimeout: .milliseconds(60)))
        }
        _ = await server.requests(atLeast: 1)
        // Takes longer than the others have for connecting; with a limit for each origin it is not held up.
        let other = maximum > 1 ? network : Network(transport: CurlTransport())
        let slow = ExchangeOptions(totalTimeout: .milliseconds(150))
        let failure = await other.task(RequestDescription(url: silent.url), options: slow).result.failure
        #expect(failure?.connectionMade == true)
        #expect(server.requests.count == 1)
        let late = server.requests[0].target == "/4" ? 3 : 4
        tasks[late].cancel()
        #expect(await tasks[late].result.failure?.reason == .cancelled)
        go.open()
        for number in 0..<5 where number != late {
            #expect(try await tasks[number].value.body == Array("/\(number)".utf8))
        }
        #expect(server.connectionCount == 1)
        #expect(server.requests.count == 4)
    }

    @Test("an answer too large for memory ends the exchange")
    func bodyCap() async throws {
        let server = try LoopbackServer { _ in .filled(1 << 30) }
        defer { server.stop() }
        let failure = await #expect(throws: ExchangeFailure.self) {
            try await network.exchange(
                RequestDescription(url: server.url), options: ExchangeOptions(maximumBodyBytes: 100_000))
        }
        #expect(failure?.reason == .bodyTooLarge)
        #expect(failure?.gotAnswer == true)
    }

    @Test("after shutdown what runs is cancelled and nothing starts")
    func shutdown() async throws {
        let server = try LoopbackServer { _ in .silence }
        defer { server.stop() }
        let transport = CurlTransport()
        let running = transport.start(RequestDescription(url: server.url), options: ExchangeOptions())
        _ = await server.requests(atLeast: 1)
        transport.shutdown()
        #expect(await running.result == .failure(.cancelled(connectionMade: true)))
        let late = transport.start(RequestDescription(url: server.url), options: ExchangeOptions())
        #expect(await late.result == .failure(.cancelled()))
    }
}
