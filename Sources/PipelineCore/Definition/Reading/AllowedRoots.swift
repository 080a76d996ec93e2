/// Which roots of expressions make sense at a place, beyond those that always do.
public struct AllowedRoots: OptionSet, Sendable, Hashable {
    /// A bit for each root.
    public let rawValue: Int
    /// Roots by their bits, as `OptionSet` asks for.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `stages.ID.X`
    public static let stages = AllowedRoots(rawValue: 1)
    /// `self.X`, `self.key`, `self.callbackURL`
    public static let own = AllowedRoots(rawValue: 2)
    /// `response.…`
    public static let response = AllowedRoots(rawValue: 4)
    /// `item`, though the stage has no `forEach`
    public static let item = AllowedRoots(rawValue: 8)
    /// `part.…`
    public static let part = AllowedRoots(rawValue: 16)
    /// `secrets.X`
    public static let secrets = AllowedRoots(rawValue: 32)
    /// `job.…`
    public static let job = AllowedRoots(rawValue: 64)
    /// `inputs.X` has no value yet: the place is the default of an input.
    public static let beforeInputs = AllowedRoots(rawValue: 128)

    /// `ids`
    public static let ids = AllowedRoots(rawValue: 256)
    /// `index`, which only a stage with `forEach` has
    static let index = AllowedRoots(rawValue: 512)

    /// The roots that a template of a stage's request may read.
    public static let request: AllowedRoots = [.stages, .own, .secrets, .job]
    /// The roots that an expression may read that judges a response.
    public static let judgement: AllowedRoots = [.stages, .own, .secrets, .job, .response]
    /// The roots that are known for good when a job starts: inputs, the environment and the job itself.
    public static let known: AllowedRoots = [.job]
    /// The roots that a service's or the pipeline's own template may read.
    public static let service: AllowedRoots = [.secrets, .job]
}
