import Foundation

/// What a command printed, compared with what a page says.
struct GuideAnswer {
    private let lines: [String]

    /// - Parameter names: what stands on the page for places of this run, such as a server's address.
    init(_ printed: String, names: [(real: String, shown: String)]) {
        var text = printed
        for (real, shown) in names { text = text.replacingOccurrences(of: real, with: shown) }
        lines = text.components(separatedBy: "\n").map { line in
            // What an interactive shell says of a program that was killed.
            let isDeath = line.contains(#/line \d+: +\d+ Killed /#)
            return isDeath ? "Killed" : line
        }
    }

    /// As it belongs on the page.
    var shown: [String] { lines.last == "" ? lines.dropLast() : lines }

    func isAsShown(_ page: ArraySlice<String>) -> Bool {
        Self.matches(ArraySlice(shown.map(Self.plain)), ArraySlice(page.map(Self.plain)))
    }

    /// Ids, keys and times made the same.
    private static func plain(_ line: String) -> String {
        line.replacing(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/, with: "KEY")
            .replacing(/\b[0-9][0-9a-hjkmnp-tv-z]{25}\b/, with: "ID")
            .replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "TIME")
            .replacing(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d\.\d+)?/, with: "TIME")
            .replacing(/\b\d\d:\d\d\b/, with: "TIME")
            .replacing(/\b\d+(\.\d+)? (s|min)\b/, with: "SPAN")
    }

    private static func matches(_ printed: ArraySlice<String>, _ page: ArraySlice<String>) -> Bool {
        guard let first = page.first else { return printed.isEmpty }
        if first.allSatisfy({ $0 == "…" || $0 == " " }), first.contains("…") {
            return (printed.startIndex...printed.endIndex).contains { matches(printed[$0...], page.dropFirst()) }
        }
        guard let line = printed.first, matches(line, first) else { return false }
        return matches(printed.dropFirst(), page.dropFirst())
    }

    private static func matches(_ line: String, _ pattern: String) -> Bool {
        let pieces = pattern.components(separatedBy: "…")
        guard pieces.count > 1 else { return line == pattern }
        guard line.hasPrefix(pieces[0]) else { return false }
        var rest = line.dropFirst(pieces[0].count)
        for piece in pieces[1..<(pieces.count - 1)] where !piece.isEmpty {
            guard let range = rest.firstRange(of: piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(pieces[pieces.count - 1])
    }
}
