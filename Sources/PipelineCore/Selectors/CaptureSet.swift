package import JSONPath

/// The captures of one request: names, in the document's order, and where their values stand in the answer.
package struct CaptureSet: Sendable {
    /// One name and its selector.
    package struct Entry: Sendable {
        package let name: String
        package let selector: Selector

        package init(name: String, selector: Selector) {
            self.name = name
            self.selector = selector
        }
    }

    package let entries: [Entry]

    package init(_ entries: [Entry] = []) { self.entries = entries }

    /// Reads `capture`, an object of selectors; mistakes are appended to `errors`, and entries with one left out.
    package static func parse(_ node: JSONNode, in source: SourceText?, errors: inout [SelectorError]) -> CaptureSet {
        guard case .object(let members) = node.content else {
            errors.append(
                SelectorError(
                    "captures are an object of names and selectors, not \(node.json.kindName)",
                    hint: "write { \"id\": \"$.id\" }", range: node.range))
            return CaptureSet()
        }
        var entries: [Entry] = []
        for member in members {
            if member.name.isEmpty { errors.append(SelectorError("a capture needs a name", range: member.nameRange)) }
            guard let selector = Selector.parse(member.value, in: source, errors: &errors) else { continue }
            entries.append(Entry(name: member.name, selector: selector))
        }
        return CaptureSet(entries)
    }

    package var isEmpty: Bool { entries.isEmpty }
    /// The names in the document's order.
    package var names: [String] { entries.map(\.name) }
    /// Those whose values are redacted wherever they are shown.
    package var secrets: [Entry] { entries.filter(\.selector.isSecret) }

    /// All values of an answer, or the failure of the first that it lacks; the body is parsed once for all.
    package func values(in answer: ServiceResponse) throws(CaptureFailure) -> JSONObject {
        var values = JSONObject()
        for entry in entries {
            do throws(CaptureFailure) {
                values[entry.name] = try entry.selector.value(in: answer)
            } catch {
                throw error.named(entry.name)
            }
        }
        return values
    }

    /// The values that an answer has; what it lacks, or has as null, is left out.
    package func valuesPresent(in answer: ServiceResponse) -> JSONObject {
        var values = JSONObject()
        for entry in entries {
            guard let value = try? entry.selector.value(in: answer), !value.isNull else { continue }
            values[entry.name] = value
        }
        return values
    }
}
