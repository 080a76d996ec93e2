import PipelineTestKit
import Testing

@testable import PipelineHTTP

@Suite("The addresses that an exchange may connect to")
struct NetworkReachTests {
    private let network = Network(transport: CurlTransport())

    @Test(
        "those of the public network alone leave out all others, in whatever form",
        arguments: [
            "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "169.254.169.254", "100.100.100.200", "168.63.129.16", "198.18.0.1", "192.0.2.1", "224.0.0.1", "240.0.0.1",
            "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
            "::ffff:10.0.0.1", "::ffff:7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:db8::1", "2001::1",
            "::7f00:1", "", "example.com",
        ])
    func closed(address: String) {
        #expect(!NetworkReach.public.allows(address))
        #expect(NetworkReach.any.allows(address))
    }

    @Test(
        "and keep the rest",
        arguments: [
            "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "169.253.1.1", "192.169.0.1", "2606:4700::1111",
            "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::",
        ])
    func open(address: String) { #expect(NetworkReach.public.allows(address)) }

    @Test(
        "no connection is made to them, nor is one that was made for others used",
        arguments: ["127.0.0.1", "localhost"])
    func refused(host: String) async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let url = server.url.replacing("127.0.0.1", with: host)
        var options = ExchangeOptions()
        options.reach = .public
        for count in 0...1 {
            let failure = await network.task(RequestDescription(url: url), options: options).result.failure
            guard case .addressRefused = failure?.reason else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(failure?.isRetryable == false)
            #expect(server.requests.count == count)
            // A connection that stays open.
            #expect(try await network.exchange(RequestDescription(url: url)).status == 200)
        }
    }
}
