import JSONPath

/// The requests of a stage by whose responses its own captures become known.
struct OwnCaptureOrder {
    /// The keys of a request whose values are needed to send it.
    private static let sent: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "query", "headers", "json", "form", "text", "file",
    ]

    private let stage: JSONNode

    init(_ stage: JSONNode) { self.stage = stage }

    /// Returns whether what is read stands in the only request of the stage whose response gives it.
    func isTooEarly(_ name: String, at range: SourceRange) -> Bool {
        var makers: [JSONNode] = []
        if captures(name, stage) {
            // What the stage itself captures comes from a last response, of whichever request.
            guard let request = onlyRequest, case .object(let members) = stage.content else { return false }
            var others: [JSONNode] = []
            for member in members where member.name != "capture" { gather(name, in: member.value, &others) }
            makers = others.isEmpty ? [request] : []
        } else {
            gather(name, in: stage, &makers)
        }
        guard makers.count == 1, case .object(let members) = makers[0].content else { return false }
        return members.contains { member in
            Self.sent.contains(member.name) && member.value.range.start <= range.start
                && range.end <= member.value.range.end
        }
    }

    /// The request of a stage that has no others; nil for one that may have.
    private var onlyRequest: JSONNode? {
        ["submit", "poll", "part", "ask", "complete"].allSatisfy { stage[$0] == nil } ? stage["request"] : nil
    }

    /// Returns whether what is read is a capture of the request for a part, and stands in what is kept of each part.
    func isKeptOfPart(_ name: String, at range: SourceRange) -> Bool {
        guard let part = stage["part"], captures(name, part), let keep = part["keep"] else { return false }
        return keep.range.start <= range.start && range.end <= keep.range.end
    }

    private func gather(_ name: String, in node: JSONNode, _ makers: inout [JSONNode]) {
        switch node.content {
        case .object(let members):
            if captures(name, node) { makers.append(node) }
            for member in members where member.name != "capture" { gather(name, in: member.value, &makers) }
        case .array(let elements): for element in elements { gather(name, in: element, &makers) }
        case .null, .bool, .number, .string: return
        }
    }

    private func captures(_ name: String, _ node: JSONNode) -> Bool { node["capture"]?.member(name) != nil }
}
