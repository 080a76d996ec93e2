/// Which steps that have ended begin anew when a job is taken up.
public enum RestartScope: Sendable, Hashable {
    /// None.
    case nothing
    /// Those that failed or were cancelled, with fresh tries.
    case failed
    /// The stage and all that need it, as if they had never run.
    case from(String)
}
