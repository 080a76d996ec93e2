import ArgumentParser

/// Values of options that count something.
enum WholeNumber {
    /// Reads a whole number that is `least` or more; anything else is refused with a sentence that says so.
    static func from(_ least: Int) -> @Sendable (String) throws -> Int {
        { text in
            guard let number = Int(text), number >= least else {
                throw ValidationError("it must be a whole number, \(least) or more")
            }
            return number
        }
    }
}
