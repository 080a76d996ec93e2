/// The way in which a job was started or last resumed: it decides who may take it up when its owner is gone.
public enum JobMode: String, Sendable, Hashable, CaseIterable {
    /// A command stays with it.
    case attached
    /// The background owner takes it up by itself.
    case background
}
