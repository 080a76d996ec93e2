import Crypto
import JSONPath
import PipelineCore
import PipelineHTTP

extension DownloadStage {
    /// Writes what a selector finds in the body, which is kept in memory: a text as it is, any other value as JSON.
    ///
    /// `verify` is about what is written.
    func selected(
        _ selector: Selector, to place: OutputPath, in context: StageContext<DownloadCheckpoint>
    ) async throws(StageFailure) -> JSONObject {
        let rendered = try await requests.render(definition, in: context)
        let response: HTTPExchangeResponse
        switch await requests.send(rendered, in: context) {
        case .failure(let failure): throw requests.failure(failure, of: rendered, in: context)
        case .success(let answered): response = answered
        }
        let answer = try await requests.judge(response, of: rendered, in: context)
        let bytes: [UInt8]
        do throws(CaptureFailure) {
            bytes = Self.bytes(of: try selector.value(in: answer))
        } catch {
            throw .definite(requests.failure(error, answer, of: rendered, in: context))
        }
        try await check(bytes, answer, rendered, in: context)
        let own = try requests.captures(definition.capture, from: answer, of: rendered, in: context)
        let name = DownloadName.make(headers: response.headers, url: response.url)
        let written = try await ResultFile.write(
            bytes, to: place.path(named: name), replaces: try await replaces(in: context), in: context)
        var captures: JSONObject = [
            "path": .string(written.path), "bytes": .number(JSONNumber(bytes.count)),
            "sha256": .string(SHA256.hash(data: bytes).hex),
        ]
        for member in own { captures[member.name] = member.value }
        return captures
    }

    private static func bytes(of value: JSON) -> [UInt8] {
        if case .string(let text) = value { Array(text.utf8) } else { value.bytes }
    }

    private func check(
        _ bytes: [UInt8], _ answer: ServiceResponse, _ rendered: RenderedRequest,
        in context: StageContext<DownloadCheckpoint>
    ) async throws(StageFailure) {
        let wanted = try await verify.values(in: context)
        var complaint: String?
        if let size = wanted.size, size != bytes.count {
            complaint = "it has \(bytes.count) bytes, and \"verify\" says \(size)"
        }
        let digest = SHA256.hash(data: bytes).hex
        if let stated = wanted.digest, stated.hex != digest {
            complaint = "its SHA-256 is \(digest), and \"verify\" says \(stated.hex)"
        }
        guard let complaint else { return }
        throw .definite(
            requests.failure(
                "what was selected is not what was wanted: \(complaint)", answer, of: rendered, in: context))
    }
}
