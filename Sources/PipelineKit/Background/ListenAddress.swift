package import PipelineCore

/// An address to listen on: `HOST:PORT`, `[V6]:PORT`, `:PORT` or `PORT`; loopback when no host is named.
package struct ListenAddress: Sendable, Hashable {
    package let host: String
    package let port: Int

    package init(parsing text: String) throws(StepFailure) {
        let failure = StepFailure(
            "'\(text)' is no address to listen on", hint: "write it as in 127.0.0.1:8765 or [::1]:8765")
        guard let colon = text.lastIndex(of: ":") else {
            guard let port = Int(text), (0...65535).contains(port) else { throw failure }
            (host, self.port) = ("127.0.0.1", port)
            return
        }
        var host = String(text[..<colon])
        guard let port = Int(text[text.index(after: colon)...]), (0...65535).contains(port) else { throw failure }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        self.host = host.isEmpty ? "127.0.0.1" : host
        self.port = port
    }
}
