import CLibrary
package import PipelineCore
import PipelineKit

/// The settings by which a dashboard is served.
package struct DashboardOptions: Sendable {
    /// `HOST:PORT`; any free port of loopback by default.
    package var listen: String
    /// True if jobs may be retried, cancelled, paused and resumed from it.
    package var allowsActions: Bool
    /// The token that programs bring as a Bearer.
    package var token: String?
    /// The prefix of every path, kept by a proxy: `/tools/pipeline`; empty for none.
    package var basePath: String
    /// Hosts that a proxy in front of it names.
    package var allowedHosts: [String]

    package init(
        listen: String = "127.0.0.1:0", allowsActions: Bool = false, tokenFile: String? = nil, basePath: String = "",
        allowedHosts: [String] = []
    ) throws(StepFailure) {
        self.listen = listen
        self.allowsActions = allowsActions
        token = try tokenFile.map { path throws(StepFailure) in try Self.token(path) }
        var base = basePath
        while base.hasSuffix("/") { base.removeLast() }
        let isPath = base.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-./_~".utf8.contains($0) }
        guard base.isEmpty || (base.hasPrefix("/") && !base.hasPrefix("//") && isPath) else {
            throw StepFailure("'\(basePath)' is no path", hint: "write it as in --base-path /tools/pipeline")
        }
        self.basePath = base
        self.allowedHosts = allowedHosts.map { $0.lowercased() }
    }

    private static func token(_ path: String) throws(StepFailure) -> String {
        guard let text = FileContent.text(path) else {
            throw StepFailure("cannot read the token of \(path): \(FileContent.reason)")
        }
        let token = text.split(whereSeparator: \.isWhitespace).joined()
        guard token.utf8.count >= 16 else {
            throw StepFailure(
                "the token in \(path) is shorter than 16 characters", hint: "make one: openssl rand -hex 32")
        }
        return token
    }
}
