import PipelineCore
import PipelineHTTP

/// The services that have let a request in.
struct RequestAdmission: Sendable {
    struct Entry: Sendable {
        let service: NamedService
        let isTrial: Bool
    }

    /// The one that is asked.
    let asked: Entry
    /// The one that a redirect led to, if that was closed the last time.
    var redirected: Entry?
}

extension RequestSending {
    /// Has the services of the request let it in; fails where one is closed.
    func admit() async throws(ExchangeFailure) -> RequestAdmission {
        var redirected: RequestAdmission.Entry?
        if let other = requests.redirects.service(behind: request) {
            redirected = try await admit(other, shownAs: other.name)
        }
        do throws(ExchangeFailure) {
            let asked = try await admit(
                NamedService(id: service, name: name), shownAs: requests.name(of: rendered.description.url))
            return RequestAdmission(asked: asked, redirected: redirected)
        } catch {
            if let redirected { await giveBack(redirected) }
            throw error
        }
    }

    private func admit(
        _ service: NamedService, shownAs shown: String
    ) async throws(ExchangeFailure) -> RequestAdmission.Entry {
        switch await context.services.admit(service.id) {
        case .open: return RequestAdmission.Entry(service: service, isTrial: false)
        case .trial: return RequestAdmission.Entry(service: service, isTrial: true)
        case .closed(let until):
            throw ExchangeFailure(
                .held(max(.zero, until - context.now)), message: "\(shown) takes no requests now, as it said")
        }
    }

    /// No response came.
    func giveBack(_ admission: RequestAdmission) async {
        await giveBack(admission.asked)
        if let redirected = admission.redirected { await giveBack(redirected) }
    }

    private func giveBack(_ entry: RequestAdmission.Entry) async { _ = await record(.nothing, of: entry) }

    private func record(_ answer: ServiceAnswer, of entry: RequestAdmission.Entry) async -> Duration? {
        await context.services.record(
            answer, of: entry.service.id, named: entry.service.name, isTrial: entry.isTrial)
    }

    /// Takes in what a response, or the lack of one, says of the services as a whole.
    func close(
        _ admission: RequestAdmission, by result: inout Result<HTTPExchangeResponse, ExchangeFailure>
    ) async {
        guard case .success(var response) = result else { return await giveBack(admission) }
        // A status that the document counts as success says nothing else.
        let isExpected = rendered.definition.expect?.constant?.contains(response.status) == true
        let answer: ServiceAnswer =
            isExpected
            ? .taken
            : ServiceAnswer(status: response.judgedStatus, retryAfter: response.retryAfter(now: context.now))
        let other = serviceRedirectedTo(by: response)
        if let redirected = admission.redirected, redirected.service != other { await giveBack(redirected) }
        if let other {
            _ = await record(.taken, of: admission.asked)
            response.closing = await record(answer, of: await entry(of: other, in: admission))
        } else {
            response.closing = await record(answer, of: admission.asked)
        }
        requests.redirects.remember(response.closing == nil ? nil : other, behind: request)
        result = .success(response)
    }

    /// The admission of a service that a redirect led to; of one that nobody knew of before, as it is now.
    private func entry(of other: NamedService, in admission: RequestAdmission) async -> RequestAdmission.Entry {
        if let redirected = admission.redirected, redirected.service == other { return redirected }
        return RequestAdmission.Entry(service: other, isTrial: await context.services.admit(other.id) == .trial)
    }

    /// The service whose response it is, where a redirect led to another origin: it speaks for itself alone. The one that was
    /// asked took the request.
    private func serviceRedirectedTo(by response: HTTPExchangeResponse) -> NamedService? {
        let bare = URLParts.withoutUser(response.url)?.url ?? response.url
        guard response.redirects > 0, let url = URLParts(bare),
            url.origin != URLParts(rendered.description.url)?.origin
        else { return nil }
        return NamedService(id: ServiceID(context.digest(Array(url.origin.utf8))), name: url.authority)
    }

    /// The request as far as it tells where redirects lead.
    private var request: String {
        let query = rendered.description.query.map { "&\($0.name)=\($0.value)" }.joined()
        return "\(rendered.description.url)\(query)"
    }
}
