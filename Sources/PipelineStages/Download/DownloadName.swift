import HTTPTypes
import PipelineCore

/// The name of a downloaded file whose author gave only a folder.
enum DownloadName {
    /// The name that the answer proposes, else the last component of its URL, else `download`.
    static func make(headers: HTTPFields, url: String) -> String {
        make(proposed: headers[.contentDisposition], url: url)
    }

    /// Returns the same of an answer.
    static func make(_ answer: ServiceResponse) -> String {
        make(proposed: answer.header("Content-Disposition").first, url: answer.url)
    }

    private static func make(proposed field: String?, url: String) -> String {
        let proposed = field.flatMap(ContentDisposition.fileName)
        return proposed.flatMap(SafeFileName.make) ?? lastComponent(of: url).flatMap(SafeFileName.make) ?? "download"
    }

    private static func lastComponent(of url: String) -> String? {
        guard let component = URLReference(url).path.split(separator: "/").last else { return nil }
        guard let bytes = PercentEncoding.bytes(of: component) else { return String(component) }
        return String(validating: bytes, as: UTF8.self) ?? String(component)
    }
}
