/// The response of the receiver.
struct CallbackResponse: Sendable, Hashable {
    let status: Int
    /// One sentence for the one who set the service up.
    let text: String
    var retryAfter: Int?

    /// True if it shows that the address was one that was made here.
    var isForStep: Bool { [.taken, .gone, .unverified].contains(self) }

    /// Kept, or not for anybody here: the service need not send it again.
    static let taken = CallbackResponse(status: 204, text: "")
    /// Says the same for every address that leads nowhere.
    static let nowhere = CallbackResponse(status: 404, text: "there is nothing here")
    /// The job or the step has ended: the service may stop.
    static let gone = CallbackResponse(status: 410, text: "what this push is for has ended")
    static let unverified = CallbackResponse(status: 401, text: "the push could not be verified")
    static let tooLarge = CallbackResponse(status: 413, text: "a push has at most 1 MiB")
    static let tooMany = CallbackResponse(status: 429, text: "too many pushes", retryAfter: 10)
    static let crowded = CallbackResponse(status: 503, text: "too many connections", retryAfter: 10)
    static let later = CallbackResponse(status: 503, text: "the push can't be kept at the moment", retryAfter: 5)
}
