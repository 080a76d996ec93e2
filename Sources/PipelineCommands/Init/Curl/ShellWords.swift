/// The words of one command, read as bash reads them: quotes of all kinds, escapes, continued lines
/// (POSIX.1-2024, Shell Command Language, 2.2; `$'…'` as in 2.2.4).
///
/// Variables become expressions of the document: `$NAME` is `${{ env.NAME }}`. What is no variable stays as it is. What
/// reads the response, or where that goes, is no part of the words.
struct ShellWords {
    private(set) var words: [String] = []
    /// The remarks on what the command does that no document can say, a sentence each.
    private(set) var remarks: [String] = []

    private let scalars: [Unicode.Scalar]
    private var place = 0
    private var word: String.UnicodeScalarView?
    /// Where the first pipe or redirect begins, and the number of words before it; nil before there is one.
    private var pipe: (place: Int, wordCount: Int)?
    /// The line that ends the here-document of the line that is read; nil for none.
    private var documentEnd: String?

    private init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// Returns the commands of a text. A line break, a semicolon, `&` and `&&` end one, unless they are quoted or
    /// escaped (2.9.3).
    ///
    /// - Throws: ``CurlMistake`` for a quote that is not closed, and for a command that is written for cmd of Windows.
    static func commands(of text: String) throws(CurlMistake) -> [ShellWords] {
        var reader = ShellWords(text)
        var commands: [ShellWords] = []
        while reader.place < reader.scalars.count {
            try reader.read()
            if !reader.words.isEmpty || !reader.remarks.isEmpty { commands.append(reader) }
            (reader.words, reader.remarks) = ([], [])
        }
        return commands
    }

    /// Reads one command, and passes over what ends it.
    private mutating func read() throws(CurlMistake) {
        while place < scalars.count, !isEnd {
            let scalar = scalars[place]
            switch scalar {
            case _ where isPrompt: place += 1
            case " ", "\t", "\r":
                endWord()
                place += 1
            case "'": try single()
            case "\"": try double()
            case "$" where next == "'": try ansi()
            case "$" where next == "\"": place += 1
            case "$": variable()
            case "\\": escape()
            case "#" where word == nil:
                while place < scalars.count, scalars[place] != "\n" { place += 1 }
            case "^" where pipe == nil && (next.map { " \t\r\n\"".unicodeScalars.contains($0) } ?? true):
                throw CurlMistake(
                    "the command is written for cmd of Windows: ^ at \(position(of: place))",
                    hint: "choose 'Copy as cURL (bash)' in the browser's menu")
            case "<" where next == "<": beginHereDocument()
            case "|", "&", ">", "<":
                leaveOut()
                place += 1
            default: append(scalar)
            }
        }
        endWord()
        if let pipe {
            let rest = scalars[pipe.place..<place].prefix(40)
            remarks.append("what follows the command was left out: \(String(String.UnicodeScalarView(rest)))")
            words.removeLast(words.count - pipe.wordCount)
        }
        pipe = nil
        passEnd()
    }

    /// True at what ends a command. An ampersand with text right after it ends none: it belongs to a redirect, or to a
    /// URL without quotes.
    private var isEnd: Bool {
        switch scalars[place] {
        case "\n", ";": true
        case "&": next.map { " \t\r\n&".unicodeScalars.contains($0) } ?? true
        default: false
        }
    }

    private mutating func passEnd() {
        guard place < scalars.count else { return }
        let end = scalars[place]
        place += end == "&" && next == "&" ? 2 : 1
        guard end == "\n", let documentEnd else { return }
        self.documentEnd = nil
        while place < scalars.count {
            let line = scalars[place...].prefix { $0 != "\n" }
            place = min(line.endIndex + 1, scalars.count)
            if String(String.UnicodeScalarView(line)).filter({ !$0.isWhitespace }) == documentEnd { return }
        }
    }

    /// Leaves out what follows, up to the end of the command.
    private mutating func leaveOut() {
        endWord()
        if pipe == nil { pipe = (place, words.count) }
    }

    /// `<<WORD`: the lines up to one of that word alone are no commands (2.7.4). `<<<` has none.
    private mutating func beginHereDocument() {
        leaveOut()
        place += 2
        guard place < scalars.count, scalars[place] != "<" else { return }
        let rest = scalars[place...].drop { "- \t".unicodeScalars.contains($0) }
        let word = rest.prefix { !" \t\r\n;|&<>".unicodeScalars.contains($0) }
        documentEnd = String(String.UnicodeScalarView(word.filter { !"'\"\\".unicodeScalars.contains($0) }))
        place = word.endIndex
    }

    /// True at what a shell shows before a command, and people copy with it.
    private var isPrompt: Bool {
        words.isEmpty && word == nil && pipe == nil && next == " " && "$%>".unicodeScalars.contains(scalars[place])
    }

    private var next: Unicode.Scalar? { place + 1 < scalars.count ? scalars[place + 1] : nil }

    private mutating func endWord() {
        if let word { words.append(String(word)) }
        word = nil
    }

    /// Appends the scalar at the place, and goes on.
    private mutating func append(_ scalar: Unicode.Scalar) {
        put(scalar)
        place += 1
    }

    /// Two braces of the command itself become an expression that gives them: they would begin one, or look like it.
    private mutating func put(_ scalar: Unicode.Scalar) {
        begin()
        // In place: a copy for each character would make a long word slow.
        word?.append(scalar)
        guard scalar == "{" else { return }
        for braces in ["${{", "{{"]
        where word?.suffix(braces.unicodeScalars.count).elementsEqual(braces.unicodeScalars) == true {
            word?.removeLast(braces.unicodeScalars.count)
            word?.append(contentsOf: "${{ '\(braces)' }}".unicodeScalars)
            return
        }
    }

    private mutating func begin() { if word == nil { word = String.UnicodeScalarView() } }

    private func position(of index: Int) -> String {
        let line = scalars[..<index].count { $0 == "\n" } + 1
        return "line \(line), column \(index - (scalars[..<index].lastIndex(of: "\n") ?? -1))"
    }

    private func unclosed(_ start: Int, _ quote: String) -> CurlMistake {
        CurlMistake(
            "the quote \(quote) at \(position(of: start)) of the command is not closed",
            hint: "copy the whole command; give it in one pair of quotes of the other kind, or in $'…'")
    }

    private mutating func single() throws(CurlMistake) {
        let start = place
        begin()
        place += 1
        while place < scalars.count, scalars[place] != "'" { append(scalars[place]) }
        guard place < scalars.count else { throw unclosed(start, "'") }
        place += 1
    }

    private mutating func double() throws(CurlMistake) {
        let start = place
        begin()
        place += 1
        while place < scalars.count, scalars[place] != "\"" {
            switch scalars[place] {
            case "\\":
                if let next, ["$", "`", "\"", "\\"].contains(next) {
                    place += 1
                    append(next)
                } else if next == "\n" {
                    place += 2
                } else {
                    append("\\")
                }
            case "$": variable()
            default: append(scalars[place])
            }
        }
        guard place < scalars.count else { throw unclosed(start, "\"") }
        place += 1
    }

    private mutating func escape() {
        if next == "\n" {
            place += 2
            passContinuationPrompt()
        } else if next == "\r", place + 2 < scalars.count, scalars[place + 2] == "\n" {
            place += 3
            passContinuationPrompt()
        } else if let next {
            place += 1
            append(next)
        } else {
            place += 1
        }
    }

    /// Passes over the `> ` that a shell shows before a continued line.
    private mutating func passContinuationPrompt() {
        if word == nil, place < scalars.count, scalars[place] == ">", next == " " { place += 1 }
    }

    /// `$NAME` and `${NAME}`; `$(…)` stays as text.
    private mutating func variable() {
        let isBraced = next == "{"
        var end = place + (isBraced ? 2 : 1)
        let start = end
        while end < scalars.count, Self.isNamePart(scalars[end], isFirst: end == start) { end += 1 }
        let name = String(String.UnicodeScalarView(scalars[start..<end]))
        guard !name.isEmpty, !isBraced || end < scalars.count && scalars[end] == "}" else {
            if next == "(" { remarks.append("a command in $(…) is not run here: what it prints is yours to give") }
            return append("$")
        }
        begin()
        let root = CurlSecretNames.isSecret(name) ? "secrets" : "env"
        word?.append(contentsOf: "${{ \(root).\(name) }}".unicodeScalars)
        place = isBraced ? end + 1 : end
    }

    private static func isNamePart(_ scalar: Unicode.Scalar, isFirst: Bool) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_": true
        case "0"..."9": !isFirst
        default: false
        }
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "n": "\n", "t": "\t", "r": "\r", "a": "\u{7}", "b": "\u{8}", "e": "\u{1B}", "f": "\u{C}", "v": "\u{B}",
    ]

    /// `$'…'`, as browsers write what has quotes or is not ASCII.
    private mutating func ansi() throws(CurlMistake) {
        let start = place
        begin()
        place += 2
        var bytes: [UInt8] = []
        func flushed(_ bytes: [UInt8]) -> String.UnicodeScalarView {
            String(decoding: bytes, as: UTF8.self).unicodeScalars
        }
        while place < scalars.count, scalars[place] != "'" {
            guard scalars[place] == "\\", let code = next else {
                bytes += Array(String(scalars[place]).utf8)
                place += 1
                continue
            }
            place += 2
            switch code {
            case "x": bytes.append(UInt8(truncatingIfNeeded: number(radix: 16, most: 2)))
            case "u": bytes += utf8(number(radix: 16, most: 4))
            case "U": bytes += utf8(number(radix: 16, most: 8))
            case "0"..."7":
                place -= 1
                bytes.append(UInt8(truncatingIfNeeded: number(radix: 8, most: 3)))
            default: bytes += Array(String(Self.escapes[code] ?? code).utf8)
            }
        }
        guard place < scalars.count else { throw unclosed(start, "$'") }
        place += 1
        for scalar in flushed(bytes) { put(scalar) }
    }

    private func utf8(_ code: UInt32) -> [UInt8] { Array(String(Unicode.Scalar(code) ?? "\u{FFFD}").utf8) }

    private mutating func number(radix: UInt32, most: Int) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<most {
            guard place < scalars.count, let digit = Character(scalars[place]).hexDigitValue, digit < radix else {
                break
            }
            value = value * radix + UInt32(digit)
            place += 1
        }
        return value
    }
}

/// The mistake in a command.
struct CurlMistake: Error {
    let message: String
    let hint: String

    init(_ message: String, hint: String) {
        self.message = message
        self.hint = hint
    }
}

/// The form that names of secrets have.
enum CurlSecretNames {
    /// The words that make a name one of a secret.
    private static let marks: Set<String> = [
        "token", "secret", "password", "passwd", "passphrase", "pass", "pwd", "apikey", "auth", "oauth",
        "authorization", "authentication", "bearer", "jwt", "credential", "credentials", "signature", "sig", "session",
        "sessionid", "sessid", "cookie",
        // German, French, Spanish and Portuguese.
        "passwort", "kennwort", "geheimnis", "sitzung", "passe", "motdepasse", "contraseña", "contrasena", "senha",
    ]
    /// The ends that words of a secret's name have when they are written as one.
    private static let ends = ["token", "secret", "password", "apikey", "accesskey", "secretkey"]

    /// Returns whether a header, a parameter or a variable of that name likely holds a secret: by its words, so that an
    /// author is none.
    static func isSecret(_ name: String) -> Bool {
        let words = words(of: name)
        return words.last == "key"
            || words.contains { word in marks.contains(word) || ends.contains { word.hasSuffix($0) } }
    }

    /// Returns whether a member of that name and value names one order: the next one must have another.
    static func namesOneOrder(_ name: String, _ value: String) -> Bool {
        let words = words(of: name)
        return words.last == "token" && !Set(words).isDisjoint(with: ["client", "idempotency", "idempotent"])
            && value.wholeMatch(of: /[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/) != nil
    }

    /// The words of a name in lower case: `X-Api-Key`, `x_api_key` and `xAPIKey` have the same.
    private static func words(of name: String) -> [String] {
        let letters = Array(name)
        var words = [""]
        for (index, letter) in letters.enumerated() {
            let isPart = letter.isLetter || letter.isNumber
            let before = index > 0 ? letters[index - 1] : " "
            let isLastCapital = index + 1 < letters.count && letters[index + 1].isLowercase
            let begins = letter.isUppercase && (!before.isUppercase || isLastCapital)
            if !isPart || begins { words.append("") }
            if isPart { words[words.count - 1] += letter.lowercased() }
        }
        return words.filter { !$0.isEmpty }
    }

    /// The name of a service's secret: `token` of the service `FAL` is `FAL_TOKEN`; a name that has the service's among its
    /// words is enough by itself.
    static func variable(_ name: String, of label: String) -> String {
        let own = variable(name)
        return own.split(separator: "_").contains(Substring(label)) ? own : "\(label)_\(own)"
    }

    /// The name of a secret, as variables are named: `X-Api-Key` is `X_API_KEY`.
    static func variable(_ text: String) -> String {
        let name = String(text.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        return name.first?.isLetter == true ? name : "SECRET_\(name)"
    }
}
