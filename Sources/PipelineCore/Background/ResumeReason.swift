/// The reason why the engine got control back: the kinds of entry in the ledger of background work.
package enum ResumeReason: String, Sendable, Hashable, CaseIterable {
    /// A transfer or another exchange that runs without us came to its end.
    case transferEnded
    /// The service answered a submit.
    case submitAnswered
    /// A request had to be made again with credentials, or a token had to be fetched.
    case authentication
    /// A push arrived.
    case push
    /// The time for a poll came.
    case poll
    /// The time for another try came.
    case retry
    /// A time came that the author gave, or a look-up of a lost submit was due.
    case timer
    /// A process started again and took the work up.
    case restart

    /// The reason as a clause.
    package var sentence: String {
        switch self {
        case .transferEnded: "a transfer ended"
        case .submitAnswered: "a submit was answered"
        case .authentication: "the service asked for credentials"
        case .push: "a push arrived"
        case .poll: "a poll was due"
        case .retry: "another try was due"
        case .timer: "a time had come"
        case .restart: "a process started again"
        }
    }

    /// Makes the reason why a step that waited gets control back.
    package init(endOf wait: WaitReason.Kind) {
        self =
            switch wait {
            case .poll: .poll
            case .retry, .refused, .noAnswer, .renewal: .retry
            case .time, .settle, .closed, .full: .timer
            case .callback: .push
            case .interrupted, .secret: .restart
            }
    }
}
