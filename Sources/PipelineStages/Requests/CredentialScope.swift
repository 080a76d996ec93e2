import PipelineCore

/// The reach of a request's credentials. A URL that was captured from a response loses them, unless it leads to the
/// service or the author has allowed it.
struct CredentialScope {
    /// True if those go along that stand in the request itself.
    let includesOwn: Bool
    /// True if those go along of the stage, its service and the pipeline.
    let includesOuter: Bool
    /// True if the request's own body may go there though it is made from a secret. `none` does not hold it back: a body
    /// is what the service is told.
    let includesOwnBody: Bool
    /// True if a body may go there that a decorator from outside the request makes from a secret.
    let includesOuterBody: Bool

    /// By default they belong to the service's origin. A host that the author wrote into the request may get what
    /// stands in the request; a host that a response named gets nothing.
    ///
    /// - Parameters:
    ///   - scope: the values that the URL is made from.
    ///   - isServiceOrigin: whether the URL, filled in, has the origin of the stage's service.
    init(_ definition: RequestDefinition, in scope: Scope, hasService: Bool, isServiceOrigin: Bool) {
        let isAny = definition.credentials == .anyOrigin
        let isCaptured = definition.url.readsCaptures || definition.url.readsItem && !scope.itemIsOwn
        let isAuthors = !hasService && (definition.url.hasLiteralOrigin || !isCaptured)
        includesOuterBody = isAny || isServiceOrigin || isAuthors
        includesOwnBody = includesOuterBody || definition.url.hasLiteralOrigin
        let isAllowed = definition.credentials != .none
        includesOwn = isAllowed && includesOwnBody
        includesOuter = isAllowed && includesOuterBody
    }

    /// The decorators that apply, from the inside out.
    func allowed(_ own: [DecoratorTemplate], _ outer: [DecoratorTemplate]) -> [DecoratorTemplate] {
        own.filter { includesOwn || !$0.isCredential || $0.makesBody }
            + outer.filter { includesOuter || !$0.isCredential || $0.makesBody }
    }

    /// Returns whether a request has credentials of which none go along.
    func withholds(_ headers: ValueTable, _ own: [DecoratorTemplate], _ outer: [DecoratorTemplate]) -> Bool {
        func isCredential(_ template: DecoratorTemplate) -> Bool { template.isCredential && !template.makesBody }
        let hasOwn = headers.entries.contains(where: \.isSecret) || own.contains(where: isCredential)
        let hasOuter = outer.contains(where: isCredential)
        return (hasOwn || hasOuter) && !(hasOwn && includesOwn) && !(hasOuter && includesOuter)
    }

    /// Returns whether a body may go there that is made from a secret.
    func includes(_ body: SecretBody) -> Bool {
        switch body {
        case .own: includesOwnBody
        case .outer: includesOuterBody
        }
    }
}

/// The place that makes a request's body, where that is made from a secret.
enum SecretBody {
    /// The request itself.
    case own
    /// A decorator of the stage, its service or the pipeline.
    case outer

    /// Nil for a body that is made from none, and for no body.
    init?(of definition: RequestDefinition, _ outer: [DecoratorTemplate]) {
        if definition.uses.secretInBody {
            self = .own
            return
        }
        // The request's own body wins, and of several forms the innermost.
        guard case .none = definition.body else { return nil }
        let own = definition.decorators.first { $0.makesBody }
        guard let form = own ?? outer.first(where: { $0.makesBody }), form.isCredential else { return nil }
        self = own == nil ? .outer : .own
    }
}
