/// The names of one sort that a document gives, such as its stages': looked up at once, however many there are, and
/// the source of hints for those that it does not give.
final class KnownNames {
    let names: [String]
    private let set: Set<String>
    private var guesses: [String: String?] = [:]
    /// The number of comparisons that are still made for the sake of hints: a document of ten thousand wrong names
    /// among ten thousand right ones is checked at once all the same.
    private var effort = 200_000

    init(_ names: [String]) {
        self.names = names
        set = Set(names)
    }

    func contains(_ name: String) -> Bool { set.contains(name) }

    /// The hint for a name that is not among these: what was probably meant, else what there is.
    ///
    /// - Parameter list: the words before the list, such as `stages here:`.
    /// - Parameter none: what to say when there is not one name.
    func hint(for name: String, list: String, none: String?) -> String? {
        if let guess = guess(for: name) { return "did you mean '\(guess)'?" }
        if names.isEmpty { return none }
        let shown = names.prefix(12).joined(separator: ", ")
        return "\(list) \(shown)" + (names.count > 12 ? " and \(names.count - 12) more" : "")
    }

    private func guess(for name: String) -> String? {
        if let known = guesses[name] { return known }
        guard effort >= names.count else { return nil }
        effort -= names.count
        let guess = Suggestion.nearest(to: name, among: names)
        guesses[name] = guess
        return guess
    }
}
