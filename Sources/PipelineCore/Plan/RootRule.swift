/// The rule of where a root of expressions has a value.
struct RootRule {
    /// The name by which messages call it.
    let name: String
    /// The roots that the place must allow.
    let roots: AllowedRoots
    /// The place where it has one.
    let hint: String

    static let beforeInputs = "the default of an input may read env, and nothing else"

    /// The rule of a root; nil for those that have a value everywhere.
    init?(_ root: Reference.Root) {
        switch root {
        case .environment: return nil
        case .input: self.init("inputs", [], "it is known everywhere but in the default of an input")
        case .secret: self.init("secrets", .secrets, "it is known in what is sent")
        case .capture:
            self.init(
                "stages", .stages,
                "it is known only inside a stage; what services, notifications and defaults say holds for all stages")
        case .own, .ownKey, .callbackURL, .ownParts:
            self.init("self", .own, "it is known only in what a stage itself sends and judges, not in its 'when'")
        case .item: self.init("item", .item, "it is known only in a stage with 'forEach'")
        case .index: self.init("index", .index, "it is known only in a stage with 'forEach'")
        case .response:
            self.init("response", .response, "it is known only where an answer is judged, as in 'fail' or 'until'")
        case .part: self.init("part", .part, "it is known only in the 'part' request of an upload")
        case .ids: self.init("ids", .ids, "they are known only in the 'list' of a poll")
        case .job: self.init("job", .job, "it is known only once a job has started")
        }
    }

    private init(_ name: String, _ roots: AllowedRoots, _ hint: String) {
        self.name = name
        self.roots = roots
        self.hint = hint
    }
}
