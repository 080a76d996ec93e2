import PipelineCore
import PipelineKit

/// A request to the receiver, as it came.
struct CallbackRequest: Sendable {
    let method: String
    /// Without the query.
    let path: String
    let query: [(name: String, value: String)]
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    /// - Parameter target: path and query as they stand in the request line.
    init(method: String, target: String, headers: [(name: String, value: String)], body: [UInt8]) {
        self.method = method
        self.headers = headers
        self.body = body
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts.first ?? "")
        query = PercentEncoding.formPairs(parts.count > 1 ? parts[1] : "")
    }

    /// The only value of a header; nil when there is none or when there are several, which no service sends.
    func header(_ name: String) -> String? {
        let found = headers.filter { $0.name.lowercased() == name.lowercased() }
        return found.count == 1 ? found[0].value : nil
    }

    /// The response that expressions see of it.
    var answer: ServiceResponse {
        ServiceResponse(status: 200, headers: headers, url: "http://callback\(path)", body: body)
    }
}

/// The response of the receiver.
struct CallbackResponse: Sendable, Hashable {
    let status: Int
    /// One sentence for the one who set the service up.
    let text: String
    var retryAfter: Int?

    /// Kept, or not for anybody here: the service need not send it again.
    static let taken = CallbackResponse(status: 204, text: "")
    /// Says the same for every address that leads nowhere.
    static let nowhere = CallbackResponse(status: 404, text: "there is nothing here")
    /// The job or the step has ended: the service may stop.
    static let gone = CallbackResponse(status: 410, text: "what this push is for has ended")
    static let unverified = CallbackResponse(status: 401, text: "the push could not be verified")
    static let tooLarge = CallbackResponse(status: 413, text: "a push has at most 1 MiB")
    static let tooMany = CallbackResponse(status: 429, text: "too many pushes", retryAfter: 10)
    static let crowded = CallbackResponse(status: 503, text: "too many connections", retryAfter: 10)
    static let later = CallbackResponse(status: 503, text: "the push can't be kept at the moment", retryAfter: 5)
}
