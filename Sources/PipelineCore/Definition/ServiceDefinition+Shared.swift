package import JSONPath

extension ServiceDefinition {
    /// The members of a service that documents share, from the text of its file; `$schema` and `x-` are left out.
    ///
    /// - Throws: all mistakes of the file, at their places in it.
    package static func shared(_ source: SourceText) throws(DefinitionError) -> JSONObject {
        let findings = DiagnosticCollector(source: source)
        let reading = JSONNode.read(source)
        if findings.report(reading.errors), let node = reading.node {
            let place = SourceLocation(node)
            if let use = node.member("use") {
                findings.report(
                    range: use.nameRange, pointer: "/use", "a service that documents share can't use another one",
                    hint: "write its keys here")
            } else {
                _ = type.read(place, findings)
            }
        }
        guard findings.diagnostics.isEmpty, let members = reading.node?.json.object else {
            throw DefinitionError(source: source, diagnostics: findings.diagnostics)
        }
        return JSONObject(
            members.filter { $0.name != "$schema" && !$0.name.hasPrefix("x-") }.map { ($0.name, $0.value) })
    }
}
