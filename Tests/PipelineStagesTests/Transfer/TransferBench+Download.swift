import Crypto

@testable import PipelineStages

extension TransferBench {
    /// A download of the service's file.
    static func download(
        from service: FileService, _ more: String = "", to: String, in folder: TransferFolder
    ) throws -> TransferBench {
        try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "request": { "GET": "/mesh.obj" }, "to": "\(to)" \(more) }
            """, url: service.url, folder: folder.path)
    }

    /// Further keys of a stage, by which it verifies that it gets these bytes.
    static func verifying(_ bytes: [UInt8]) -> String {
        ", \"verify\": { \"sha256\": \"\(TransferFolder.sha256(bytes))\" }"
    }

    /// The header by which a service says what it sends (RFC 9530).
    static func digestField(_ bytes: [UInt8]) -> (String, String) {
        let digest = Array(SHA256.hash(data: bytes))
        return ("Repr-Digest", "sha-256=:\(base64(digest)):")
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = Array(bytes[start..<min(start + 3, bytes.count)])
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 { text.append(index <= group.count ? digits[bits >> (18 - 6 * index) & 63] : "=") }
        }
        return text
    }
}
