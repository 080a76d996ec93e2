import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("Names of hosts beyond ASCII")
struct InternationalHostTests {
    private let network = Network(transport: CurlTransport())

    /// libcurl leads every name below `localhost` to this machine (RFC 6761, section 6.3).
    @Test(
        "are asked for in their ASCII form (RFC 5891)",
        arguments: [("bücher", "xn--bcher-kva"), ("例え", "xn--r8jz45g"), ("xn--bcher-kva", "xn--bcher-kva")])
    func host(name: String, ascii: String) async throws {
        let server = try LoopbackServer { .status(200, body: $0.header("Host") ?? "") }
        defer { server.stop() }
        let port = try #require(server.url.split(separator: ":").last)
        let answer = try await network.exchange(
            RequestDescription(url: "http://\(name).localhost:\(port)/a"), options: ExchangeOptions())
        #expect(String(decoding: answer.body, as: UTF8.self) == "\(ascii).localhost:\(port)")
    }
}
