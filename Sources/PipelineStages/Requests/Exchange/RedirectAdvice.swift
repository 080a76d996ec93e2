import HTTPTypes
import PipelineCore
import PipelineHTTP

/// The words on where a redirect leads that is not followed, and on what to write.
enum RedirectAdvice {
    /// Nil for an answer that is no redirect. The query is left out, in which credentials may stand.
    static func text<Checkpoint>(
        after method: HTTPRequest.Method, _ answer: ServiceResponse, in context: StageContext<Checkpoint>
    ) -> String? {
        guard let target = answer.redirect else { return nil }
        let place = ShownText.excerpt(String(target.prefix { $0 != "?" && $0 != "#" }), in: context)
        let next = RedirectRule.method(after: method, status: answer.status)
        return next == method
            ? "it is at \(place): write that, or \"redirects\": 1 follows it"
            : "it is at \(place): write that; \"redirects\": 1 would ask there with \(next.rawValue)"
    }
}
