import CCurl
import Foundation
import NetworkTasks
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineHTTP

@Suite("TLS")
struct TLSTests {
    let network = Network(transport: CurlTransport())

    func reason(_ url: String, _ tls: TLSOptions) async -> ExchangeFailure? {
        await network.task(RequestDescription(url: url), options: ExchangeOptions(tls: tls, proxy: "")).result.failure
    }

    @Test("the system's roots do not know a certificate that was made here, and nothing is sent")
    func unknownAuthority() async throws {
        let server = try await TLSServer.start()
        let failure = await reason(server.url, TLSOptions())
        #expect(failure?.reason == .tls(.unknownAuthority))
        #expect(failure?.connectionMade == false)
        #expect(failure?.isRetryable == false)
    }

    @Test("with its own authority the same server is trusted")
    func ownAuthority() async throws {
        let server = try await TLSServer.start()
        let answer = try await network.exchange(
            RequestDescription(url: server.url), options: ExchangeOptions(tls: TLSOptions(ca: server.certificate)))
        #expect(answer.status == 200)
        #expect(answer.timings.tls > 0)
        let newest = TLSOptions(ca: server.certificate, minimumVersion: .tls13)
        #expect(await reason(server.url, newest) == nil)
    }

    /// Until the process ended, for a day, all went by the file as it had been.
    @Test("a file of authorities that is replaced counts from the next connection on")
    func replacedAuthority() async throws {
        let (former, later) = (try await TLSServer.start(), try await TLSServer.start())
        let folder = TemporaryFolder()
        let tls = TLSOptions(ca: folder.file("ca.pem"))
        try folder.write("ca.pem", try #require(TemporaryFolder.text(of: former.certificate)))
        #expect(await reason(former.url, tls) == nil)
        #expect(await reason(later.url, tls)?.reason == .tls(.unknownAuthority))
        try folder.write("ca.pem", try #require(TemporaryFolder.text(of: later.certificate)))
        #expect(await reason(later.url, tls) == nil)
    }

    /// libcurl has a folder of authorities too, on Debian that of the system: a file of one's own came beside it only.
    @Test("its own authorities stand in place of all of the system's")
    func noOtherAuthorities() async throws {
        let server = try await TLSServer.start()
        for (file, folder) in [(server.certificate, "CApath: none"), (nil, "CApath: ")] {
            let said = try said(by: RequestDescription(url: server.url), TLSOptions(ca: file))
            #expect(said.contains(folder), "\(said)")
        }
    }

    /// Returns what libcurl tells of a connection.
    private func said(by request: RequestDescription, _ tls: TLSOptions) throws -> String {
        let (_, completion) = ExchangeTask.make(id: 0)
        let options = ExchangeOptions(tls: tls, proxy: "")
        let exchange = CurlExchange(request, options: options, completion: completion)
        let easy = try #require(EasyHandle())
        exchange.easy = easy
        #expect(exchange.prepare(CurlConfiguration()) == nil)
        let log = CurlLog()
        easy.set(CURLOPT_VERBOSE, 1)
        easy.set(CURLOPT_DEBUGDATA, pointer: Unmanaged.passUnretained(log).toOpaque())
        ccurl_set_debug(easy.pointer) { _, kind, bytes, count, context in
            guard kind == CURLINFO_TEXT, let bytes, let context else { return 0 }
            let words = String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
            Unmanaged<CurlLog>.fromOpaque(context).takeUnretainedValue().text.withLock { $0 += words }
            return 0
        }
        curl_easy_perform(easy.pointer)
        exchange.releaseResources()
        exchange.easy = nil
        return log.text.withLock { $0 }
    }

    @Test("a certificate for another host")
    func wrongHost() async throws {
        let server = try await TLSServer.start(name: "elsewhere.test")
        let failure = await reason(server.url, TLSOptions(ca: server.certificate))
        #expect(failure?.reason == .tls(.wrongHost))
        #expect(failure?.connectionMade == false)
    }

    @Test("an expired certificate")
    func expired() async throws {
        let server = try await TLSServer.start(isExpired: true)
        let failure = await reason(server.url, TLSOptions(ca: server.certificate))
        #expect(failure?.reason == .tls(.expired))
    }

    @Test("one of the pinned keys must match")
    func pins() async throws {
        let server = try await TLSServer.start()
        let other = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let mismatch = await reason(server.url, TLSOptions(ca: server.certificate, pinnedPublicKeys: [other]))
        #expect(mismatch?.reason == .tls(.pinMismatch))
        #expect(mismatch?.connectionMade == false)
        let matching = TLSOptions(ca: server.certificate, pinnedPublicKeys: [other, server.pin])
        #expect(await reason(server.url, matching) == nil)
    }

    @Test("a server that is older than the oldest version accepted gets nothing")
    func minimumVersion() async throws {
        let server = try await TLSServer.start(isOld: true)
        #expect(await reason(server.url, TLSOptions(ca: server.certificate)) == nil)
        let newest = await reason(server.url, TLSOptions(ca: server.certificate, minimumVersion: .tls13))
        #expect(newest?.reason == .tls(.other))
        #expect(newest?.connectionMade == false)
    }

    @Test("where a key is pinned nothing goes out without TLS, not even behind a redirect")
    func pinsWithoutTLS() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let secure = try await TLSServer.start()
        let tls = TLSOptions(ca: secure.certificate, pinnedPublicKeys: [secure.pin])
        let failure = await reason(server.url, tls)
        #expect(failure?.reason == .tls(.pinWithoutTLS))
        #expect(failure?.message.hasPrefix("Keys are pinned, and 127.0.0.1:") == true)
        #expect(failure?.message.hasSuffix(" would be reached without TLS.") == true)
        #expect(failure?.connectionMade == false)
        #expect(server.requests.isEmpty)
    }

    // It was told in OpenSSL's words alone, and tried for a day without a hint.
    @Test("a server that answers in plain HTTP is told, and may be another one later")
    func plainServer() async throws {
        let server = try LineServer(greeting: "HTTP/1.1 400 Bad Request") { _, _ in .nothing }
        defer { server.stop() }
        let failure = await reason("https://127.0.0.1:\(server.port)/", TLSOptions())
        #expect(failure?.reason == .tls(.notSpoken))
        #expect(failure?.message.hasPrefix("127.0.0.1:\(server.port) does not speak TLS") == true)
        #expect(failure?.isRetryable == true && failure?.connectionMade == false)
    }

    @Test("a client certificate where the server wants one")
    func clientCertificate() async throws {
        let server = try await TLSServer.start(needsClientCertificate: true)
        let without = await reason(server.url, TLSOptions(ca: server.certificate))
        #expect(without?.reason == .tls(.other))
        let with = TLSOptions(ca: server.certificate, certificate: server.certificate, key: server.key)
        #expect(await reason(server.url, with) == nil)
    }

    @Test("a client certificate follows no redirect to another origin, unless credentials may")
    func certificateElsewhere() async throws {
        let server = try await TLSServer.start(needsClientCertificate: true)
        let start = try LoopbackServer { [url = server.url] _ in
            .status(302, headers: [("Location", url)], bytes: [])
        }
        defer { start.stop() }
        let tls = TLSOptions(ca: server.certificate, certificate: server.certificate, key: server.key)
        var options = ExchangeOptions(tls: tls, proxy: "")
        let request = RequestDescription(url: start.url)
        #expect(await network.task(request, options: options).result.failure?.reason == .tls(.other))
        options.redirectKeepsCredentials = true
        #expect(try await network.exchange(request, options: options).status == 200)
    }

    @Test("a key that a password opens, and one that it does not")
    func keyPassword() async throws {
        let server = try await TLSServer.start(needsClientCertificate: true)
        let sealed = try server.sealedKey(password: "open-sesame")
        var tls = TLSOptions(
            ca: server.certificate, certificate: server.certificate, key: sealed, keyPassword: "open-sesame")
        #expect(await reason(server.url, tls) == nil)
        tls.keyPassword = "wrong"
        let failure = await reason(server.url, tls)
        #expect(failure?.reason == .tls(.localFile))
        #expect(failure?.connectionMade == false)
        #expect(failure?.message.contains("wrong") == false)
    }

    @Test("files of authorities or certificates that are not there")
    func localFiles() async throws {
        let server = try await TLSServer.start()
        #expect(await reason(server.url, TLSOptions(ca: "/none/such.pem"))?.reason == .tls(.localFile))
        let certificate = TLSOptions(ca: server.certificate, certificate: "/none/such.pem")
        #expect(await reason(server.url, certificate)?.reason == .tls(.localFile))
    }
}

private final class CurlLog: Sendable {
    let text = Mutex("")
}
