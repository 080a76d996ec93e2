import JSONPath

extension FieldType where Value == Template {
    /// A string with `${{ }}` parts that may read the given roots.
    public static func template(_ roots: AllowedRoots = .request) -> FieldType {
        FieldType(schema: ["type": "string"]) { place, findings in
            guard let text = FieldType<String>.string.read(place, findings) else { return nil }
            do throws(ExpressionError) {
                let template = try Template.parse(
                    text, in: TextOrigin(literal: place.node.range, in: findings.source.bytes))
                let isFile = place.pointer.hasSuffix("/file") && template.references.isEmpty
                findings.use(
                    template.references, namesFile: isFile || template.namesFile, roots: roots, at: place)
                return template
            } catch {
                findings.report(error, roots: roots, at: place)
                return nil
            }
        }
    }
}

extension FieldType where Value == JSONTemplate {
    /// Any JSON value whose strings are templates.
    ///
    /// - Parameter optionalMembers: whether a member whose name ends in `?` is left out when its value is null; false
    ///   for data, every name of which counts as it is.
    public static func json(_ roots: AllowedRoots = .request, optionalMembers: Bool = true) -> FieldType {
        FieldType(schema: [:]) { place, findings in
            var errors: [ExpressionError] = []
            let template = JSONTemplate.parse(
                place.node, in: findings.source, optionalMembers: optionalMembers, errors: &errors)
            for error in errors {
                let pointer = place.descendant(at: error.range.start).pointer
                findings.report(range: error.range, pointer: pointer, error.message, hint: error.hint)
            }
            findings.use(template.references, namesFile: template.namesFile, roots: roots, at: place)
            return errors.isEmpty ? template : nil
        }
    }
}

extension FieldType where Value == Expression {
    /// A bare expression; one `${{ }}` around the whole is accepted.
    public static func expression(_ roots: AllowedRoots) -> FieldType {
        FieldType(schema: ["title": "expression", "type": "string", "minLength": 1]) { place, findings in
            guard let text = FieldType<String>.string.read(place, findings) else { return nil }
            do throws(ExpressionError) {
                let expression = try Expression.parseField(
                    text, in: TextOrigin(literal: place.node.range, in: findings.source.bytes))
                findings.use(expression.references, namesFile: expression.namesFile, roots: roots, at: place)
                return expression
            } catch {
                findings.report(error, roots: roots, at: place)
                return nil
            }
        }
    }
}

extension DiagnosticCollector {
    fileprivate func report(_ error: ExpressionError, roots: AllowedRoots, at place: SourceLocation) {
        use(error.references, namesFile: false, roots: roots, at: place)
        for error in error.all { report(range: error.range, pointer: place.pointer, error.message, hint: error.hint) }
    }
}
