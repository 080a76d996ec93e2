import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// A request as the document describes it: read and in itself right, its values not yet put in.
struct RequestDefinition: Sendable {
    /// The reach of the service's credentials.
    enum Credentials: String, Sendable, CaseIterable {
        /// To the service's own origin alone.
        case service
        case none
        /// To wherever the URL or a redirect leads.
        case anyOrigin = "any-origin"
    }

    /// The treatment of a submit that nothing reconciles.
    enum OnUnknown: String, Sendable, CaseIterable {
        /// Wait for a person's `resolve`.
        case ask
        case fail
    }

    /// The values in it that need care.
    struct Uses: Sendable {
        /// True if `${{ self.key }}` stands somewhere in it.
        var ownKey = false
        /// True if its own body is made from a secret.
        var secretInBody = false
        /// The stages whose captures are read in it.
        var stages: Set<String> = []
        /// True if the item that it is repeated for is read in it.
        var item = false

        /// Leaves the captures that tell who asks, of those that it reads: what is asked for was found out earlier.
        mutating func keepCredentials(of definition: RequestDefinition) {
            stages = Set(definition.credentialReferences(with: []).compactMap(\.captureStage))
            item = false
        }
    }

    var method: HTTPRequest.Method
    var url: URLTemplate
    var query = ValueTable()
    var headers = ValueTable()
    var body = BodyDefinition.none
    /// The request's own decorators, the first innermost.
    var decorators: [DecoratorTemplate] = []
    var capture = CaptureSet()
    /// The statuses that count as success; nil for what its use has as default.
    var expect: ExpectedStatuses?
    var fail: [FailRule] = []
    /// The place of the message in an error body; nil for the usual places.
    var error: Selector?
    var timeout: Setting<Duration>?
    /// The number of redirects to follow; nil for 10 with GET and HEAD and none with the rest.
    var redirects: Setting<Int>?
    var credentials = Credentials.service
    /// The way in which a lost response is reconciled, where that may be said.
    @IndirectOptional var once: OnceDefinition?
    var onUnknown = OnUnknown.ask
    /// The rule by which all pages are fetched, of a list that is looked through.
    @IndirectOptional var paginate: PaginateDefinition?
    var uses = Uses()
    /// The names of its decorators.
    var decoratorNames: Set<String> = []
    /// The place where it stands in the document.
    var place: SourceLocation?

    /// True if a lost answer to it is settled without a person.
    var settlesSubmit: Bool { once != nil || onUnknown == .fail }

    init(_ method: HTTPRequest.Method, _ url: URLTemplate) {
        self.method = method
        self.url = url
    }

    /// A GET of a URL that an answer gave.
    init(captured url: String) { self.init(.get, URLTemplate(captured: url)) }

    /// The captures of other stages, and the item, that say what it is about: in the URL, the query and the body.
    var subject: [Reference] {
        let content: [Reference] =
            switch body {
            case .json(let template): template.references
            case .form(let table): table.references
            case .text(let template), .file(let template, _): template.references
            case .none, .part: []
            }
        return (url.references + query.references + content).filter(\.isRenewable)
    }

    /// Those in headers that hold no credentials. What decorators add is a credential as a rule.
    var headerSubject: [Reference] {
        let credentials = Set(headers.credentialNames)
        return headers.entries.filter { !credentials.contains($0.name) }.flatMap(\.value.references)
            .filter(\.isRenewable)
    }

    /// True if sending it twice does what sending it once does (RFC 9110, section 9.2.2).
    var isIdempotent: Bool { method != .post && method != .patch }
}

extension RequestDefinition {
    /// The values that tell the service who asks.
    fileprivate func credentialReferences(with outer: [DecoratorTemplate]) -> [Reference] {
        headers.references + (decorators + outer).flatMap(\.captures)
    }

    /// How credentials are had again that a stage gave, such as a login's token; nil where none did.
    func credentialRenewal(with outer: [DecoratorTemplate]) -> String? {
        credentialReferences(with: outer).lazy.compactMap(\.captureStage).first.map {
            "what stage '\($0)' gave may have expired: \"renew\": \"\($0)\" gets it again"
        }
    }
}
