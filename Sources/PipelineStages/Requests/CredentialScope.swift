import PipelineCore

/// The reach of a request's credentials. A URL that was captured from a response loses them, unless it leads to the
/// service or the author has allowed it.
struct CredentialScope {
    /// True if those go along that stand in the request itself.
    let includesOwn: Bool
    /// True if those go along of the stage, its service and the pipeline.
    let includesOuter: Bool

    /// By default they belong to the service's origin. A host that the author wrote into the request may get what
    /// stands in the request; a host that a response named gets nothing.
    ///
    /// - Parameters:
    ///   - scope: the values that the URL is made from.
    ///   - isServiceOrigin: whether the URL, filled in, has the origin of the stage's service.
    init(_ definition: RequestDefinition, in scope: Scope, hasService: Bool, isServiceOrigin: Bool) {
        switch definition.credentials {
        case .none: (includesOwn, includesOuter) = (false, false)
        case .anyOrigin: (includesOwn, includesOuter) = (true, true)
        case .service:
            let isCaptured = definition.url.readsCaptures || definition.url.readsItem && !scope.itemIsOwn
            let isAuthors = !hasService && (definition.url.hasLiteralOrigin || !isCaptured)
            includesOwn = isServiceOrigin || isAuthors || definition.url.hasLiteralOrigin
            includesOuter = isServiceOrigin || isAuthors
        }
    }

    /// The decorators that apply, from the inside out.
    func allowed(_ own: [DecoratorTemplate], _ outer: [DecoratorTemplate]) -> [DecoratorTemplate] {
        own.filter { includesOwn || !$0.isCredential } + outer.filter { includesOuter || !$0.isCredential }
    }
}
