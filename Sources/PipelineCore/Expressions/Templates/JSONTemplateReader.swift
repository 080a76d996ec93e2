import JSONPath

/// Makes a template of a value of the document and gathers its mistakes.
struct JSONTemplateReader {
    let source: SourceText?
    let optionalMembers: Bool
    private(set) var errors: [ExpressionError] = []
    private(set) var references: [Reference] = []
    private(set) var namesFile = false

    init(source: SourceText?, optionalMembers: Bool) {
        self.source = source
        self.optionalMembers = optionalMembers
    }

    mutating func node(_ node: JSONNode) -> JSONTemplate.Node {
        switch node.content {
        case .null, .bool, .number: return .constant(node.json)
        case .string(let text): return string(text, at: node.range)
        case .array(let elements): return array(elements)
        case .object(let members): return object(members)
        }
    }

    private mutating func string(_ text: String, at range: SourceRange) -> JSONTemplate.Node {
        guard TemplateReader.hasExpression(text) else { return .constant(.string(text)) }
        do throws(ExpressionError) {
            let template = try Template.parse(text, in: TextOrigin(literal: range, in: source))
            references += template.references
            namesFile = namesFile || template.namesFile
            return template.constant.map { .constant(.string($0)) } ?? .template(template)
        } catch {
            errors += error.all
            references += error.references
            return .constant(.string(text))
        }
    }

    /// A value without expressions is kept as one constant, however large it is.
    private mutating func array(_ elements: [JSONNode]) -> JSONTemplate.Node {
        var nodes: [JSONTemplate.Node] = []
        for element in elements { nodes.append(node(element)) }
        let constants = nodes.compactMap(\.constant)
        return constants.count == nodes.count ? .constant(.array(constants)) : .array(nodes)
    }

    private mutating func object(_ members: [JSONNode.Member]) -> JSONTemplate.Node {
        var read: [JSONTemplate.Member] = []
        // By bytes: JSON tells names apart that Swift takes for equal (RFC 8259, section 8.3).
        var names: Set<[UInt8]> = []
        for member in members {
            let (name, isOptional) = optionalMembers ? Self.name(member.name) : (member.name, false)
            if !names.insert(Array(name.utf8)).inserted {
                errors.append(
                    ExpressionError(
                        "the member \"\(name)\" is given twice", hint: "a \"?\" at the end of a name is not part of it",
                        range: member.nameRange))
            }
            read.append(JSONTemplate.Member(name: name, isOptional: isOptional, value: node(member.value)))
        }
        let constants = read.compactMap { member in member.value.constant.map { (member, $0) } }
        guard constants.count == read.count else { return .object(read) }
        return .constant(.object(JSONObject(constants.filter { !($0.isOptional && $1.isNull) }.map { ($0.name, $1) })))
    }

    /// Each two trailing `?` stand for one, and one that is left over makes the member optional.
    static func name(_ written: String) -> (name: String, isOptional: Bool) {
        let marks = written.utf8.reversed().prefix { $0 == UInt8(ascii: "?") }.count
        let name = written.dropLast(marks) + String(repeating: "?", count: marks / 2)
        return (String(name), marks % 2 == 1)
    }
}

extension JSONTemplate.Node {
    var constant: JSON? { if case .constant(let value) = self { value } else { nil } }
}
