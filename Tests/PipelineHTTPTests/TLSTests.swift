import NetworkTasks
import PipelineHTTP
import PipelineTestKit
import Testing

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
