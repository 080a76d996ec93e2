public import JSONPath

/// A JSON value whose strings are templates: a request's `json`, a plugin's configuration.
///
/// Names of members are taken as they are, but for a trailing `?`: such a member is left out when its value is null.
/// A literal trailing `?` is doubled (`really??`), and a third one makes such a member optional too.
public struct JSONTemplate: Sendable {
    indirect enum Node: Sendable {
        case constant(JSON)
        case template(Template)
        case array([Node])
        case object([Member])
    }

    struct Member: Sendable {
        let name: String
        let isOptional: Bool
        let value: Node
    }

    let root: Node
    /// Everything that its expressions read, in the order of the document.
    package let references: [Reference]
    /// True if one of its expressions reads a local file that it names itself.
    package let namesFile: Bool

    /// The value when there is no expression in it.
    public var constant: JSON? { if case .constant(let value) = root { value } else { nil } }

    /// A value without expressions, whatever its strings hold.
    public init(constant: JSON) {
        root = .constant(constant)
        references = []
        namesFile = false
    }

    /// Reads a value of a document; all mistakes in it are appended to `errors`.
    ///
    /// - Parameters:
    ///   - source: the document, so that mistakes point exactly; without it those after an escape are a little off.
    ///   - optionalMembers: whether the trailing `?` of a name has its meaning.
    package static func parse(
        _ node: JSONNode, in source: SourceText?, optionalMembers: Bool = true, errors: inout [ExpressionError]
    ) -> JSONTemplate {
        var reader = JSONTemplateReader(source: source, optionalMembers: optionalMembers)
        let root = reader.node(node)
        errors += reader.errors
        return JSONTemplate(root: root, references: reader.references, namesFile: reader.namesFile)
    }

    private init(root: Node, references: [Reference], namesFile: Bool) {
        self.root = root
        self.namesFile = namesFile
        self.references = references
    }

    /// True if the document has it as an object, and not as an expression that gives one.
    package var isObject: Bool {
        switch root {
        case .object, .constant(.object): true
        case .constant, .template, .array: false
        }
    }

    /// The object with a member of that value, which takes the place of one of that name; any other template as it is.
    package func setting(_ name: String, to value: JSON) -> JSONTemplate {
        switch root {
        case .constant(.object(var object)):
            object[name] = value
            return JSONTemplate(root: .constant(.object(object)), references: references, namesFile: namesFile)
        case .object(let members):
            let member = Member(name: name, isOptional: false, value: .constant(value))
            let others = members.filter { $0.name != name }
            return JSONTemplate(root: .object(others + [member]), references: references, namesFile: namesFile)
        case .constant, .template, .array: return self
        }
    }

    /// The value for these values of names.
    public func evaluate(in scope: Scope) throws(EvaluationFailure) -> JSON { try Self.value(root, scope) }

    private static func value(_ node: Node, _ scope: Scope) throws(EvaluationFailure) -> JSON {
        switch node {
        case .constant(let value): return value
        case .template(let template): return try template.evaluate(in: scope)
        case .array(let elements):
            var values: [JSON] = []
            for element in elements { values.append(try value(element, scope)) }
            return .array(values)
        case .object(let members):
            var object = JSONObject()
            for member in members {
                let value = try value(member.value, scope)
                if !(member.isOptional && value.isNull) { object[member.name] = value }
            }
            return .object(object)
        }
    }

    /// The value as a plan shows it, see ``Template/describe(in:)``; optional members stay unless known to be null.
    public func describe(in scope: Scope) -> JSON { Self.description(root, scope) }

    private static func description(_ node: Node, _ scope: Scope) -> JSON {
        switch node {
        case .constant(let value): return value
        case .template(let template):
            if let expression = template.wholeExpression { return expression.description(in: scope) }
            return .string(template.describe(in: scope))
        case .array(let elements): return .array(elements.map { description($0, scope) })
        case .object(let members):
            var object = JSONObject()
            for member in members {
                let value = description(member.value, scope)
                if !(member.isOptional && value.isNull) { object[member.name] = value }
            }
            return .object(object)
        }
    }
}
