import JSONPath

/// Writes what stands several times in a schema once, under `$defs`.
///
/// Two schemas are the same when they differ in nothing but what people read (`title`, `description`, `default`,
/// `examples`), which stays where it stands, next to the `$ref`. A `title` becomes the name under `$defs`.
struct SchemaSharing {
    /// A schema whose children are slots: objects with the child's number and its own annotations.
    private struct Node {
        let core: JSON
        var title: String?
        /// In how many places of other nodes it stands, and under which keys.
        var uses = 0
        var keys: [String: Int] = [:]
    }

    private static let annotations = ["description", "default", "examples"]
    private static let slot = "#"

    private let replacements: [String: JSON]
    private var nodes: [Node] = []
    private var numbers: [JSON: Int] = [:]
    private var names: [Int: String] = [:]
    private var replaced: [String: JSON] = [:]

    /// - Parameter replacements: schemas that stand for those of a title, wherever such a one is.
    init(replacing replacements: [String: JSON]) { self.replacements = replacements }

    /// The schema and its `$defs`.
    mutating func share(_ schema: JSON) -> (root: JSONObject, definitions: JSONObject) {
        let root = intern(schema, under: "document")
        nameShared()
        var definitions = JSONObject()
        for (number, name) in names.sorted(by: { $0.value < $1.value }) {
            definitions[name] = expanded(number)
        }
        return (emitted(root).object ?? [:], definitions)
    }

    // MARK: - Taking in

    /// The slot that stands for a schema; `key` is the property that it describes, for a name.
    private mutating func intern(_ schema: JSON, under key: String) -> JSON {
        guard case .object(let given) = schema else { return schema }
        if let title = given["title"]?.string, let other = replacements[title] {
            return replacement(other, title, given)
        }
        var slot: JSONObject = [:]
        var core = given
        core["title"] = nil
        for annotation in Self.annotations {
            slot[annotation] = given[annotation]
            core[annotation] = nil
        }
        var children: [(number: Int, key: String)] = []
        let value = SubschemaWalk.map(core) { child, property in
            let inner = intern(child, under: property ?? key)
            if let number = inner[Self.slot]?.number?.int { children.append((number, property ?? key)) }
            return inner
        }
        slot[Self.slot] = .number(JSONNumber(number(of: .object(value), given["title"]?.string, children)))
        return .object(slot)
    }

    private mutating func replacement(_ other: JSON, _ title: String, _ given: JSONObject) -> JSON {
        let slot: JSON
        if let known = replaced[title] {
            slot = known
        } else {
            // The replacement has the title too; under another one it is taken in like any schema.
            var inner = other.object ?? [:]
            inner["title"] = nil
            slot = intern(.object(inner), under: title)
            if let number = slot[Self.slot]?.number?.int, nodes[number].title == nil { nodes[number].title = title }
            replaced[title] = slot
        }
        guard case .object(var result) = slot else { return slot }
        for key in Self.annotations where given[key] != nil { result[key] = given[key] }
        return .object(result)
    }

    private mutating func number(of core: JSON, _ title: String?, _ children: [(number: Int, key: String)]) -> Int {
        if let known = numbers[core] {
            if nodes[known].title == nil { nodes[known].title = title }
            return known
        }
        for (child, key) in children {
            nodes[child].uses += 1
            nodes[child].keys[key, default: 0] += 1
        }
        numbers[core] = nodes.count
        nodes.append(Node(core: core, title: title))
        return nodes.count - 1
    }

    // MARK: - Giving out

    private static let smallest = 90

    private mutating func nameShared() {
        var taken: Set<String> = []
        for (number, node) in nodes.enumerated() where node.uses > 0 {
            guard node.title != nil || (node.uses > 1 && node.core.text.utf8.count > Self.smallest) else { continue }
            let usual = node.keys.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
            let wanted = node.title ?? usual ?? "part"
            var name = wanted
            var count = 2
            while !taken.insert(name).inserted {
                name = "\(wanted)\(count)"
                count += 1
            }
            names[number] = name
        }
    }

    private func emitted(_ slot: JSON) -> JSON {
        guard case .object(let members) = slot, let number = members[Self.slot]?.number?.int else { return slot }
        var schema: JSONObject = [:]
        if let name = names[number] {
            schema["$ref"] = .string("#/$defs/\(name)")
        } else if let content = expanded(number).object {
            schema = content
        }
        for (name, value) in members where name != Self.slot { schema[name] = value }
        return .object(schema)
    }

    private func expanded(_ number: Int) -> JSON {
        guard case .object(let core) = nodes[number].core else { return nodes[number].core }
        return .object(SubschemaWalk.map(core) { child, _ in emitted(child) })
    }
}

/// Goes to the schemas that stand directly in a schema (JSON Schema 2020-12, core, section 10).
enum SubschemaWalk {
    private static let single = [
        "additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames",
    ]
    private static let lists = ["allOf", "anyOf", "oneOf", "prefixItems"]
    private static let maps = ["properties", "patternProperties", "dependentSchemas"]

    /// The schema with each of them changed; `change` also gets the property that it describes, if it is one's.
    static func map(_ schema: JSONObject, _ change: (JSON, String?) -> JSON) -> JSONObject {
        JSONObject(
            schema.map { name, value -> (String, JSON) in
                switch value {
                case let child where single.contains(name): (name, change(child, nil))
                case .array(let children) where lists.contains(name): (name, .array(children.map { change($0, nil) }))
                case .object(let children) where maps.contains(name):
                    (name, .object(JSONObject(children.map { ($0.name, change($0.value, $0.name)) })))
                default: (name, value)
                }
            })
    }
}
