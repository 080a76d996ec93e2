import HTTPTypes
import PipelineHTTP

extension HTTPExchangeResponse {
    /// True if it is a page for people: something on the way gives one where a service for programs gives none.
    var isPage: Bool { headers[.contentType]?.lowercased().hasPrefix("text/html") == true }
}
