extension StyledText {
    /// A line of a message: `error:`, `warning:` and `hint:` at its begin, also after the place in a document, and carets
    /// have their colours.
    init(message line: String) {
        let marks = line.drop { $0 == " " }
        if marks.first == "^", marks.allSatisfy({ $0 == "^" || $0 == "~" }) {
            self.init(line, .green)
            return
        }
        for (word, style) in [("error:", Style.red), ("warning:", .yellow), ("hint:", .cyan), ("note:", .cyan)] {
            guard let range = line.firstRange(of: word) else { continue }
            let before = line[..<range.lowerBound]
            let isPlace = before.hasSuffix(": ") && before.dropLast(2).last?.isNumber == true
            guard isPlace || before.allSatisfy({ $0 == " " }) else { continue }
            self = "\(String(before), isPlace ? .bold : nil)\(word, style)\(String(line[range.upperBound...]))"
            return
        }
        self.init(line)
    }
}
