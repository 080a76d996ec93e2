import JSONPath
import PipelineCore
import PipelineHTTP

extension DecoratorKind {
    /// `"headers": { NAME: VALUE }`; what the inner request says wins.
    static let headers = DecoratorKind("headers", "Adds header fields.") { roots in
        FieldType<ValueTable>.headerTable(roots).map { table in
            DecoratorTemplate(credentialFields: table.credentialNames) { context throws(EvaluationFailure) in
                Headers(try table.pairs(in: context.scope))
            }
        }
    }

    /// `"query": { NAME: VALUE }`; what the inner request says wins.
    static let query = DecoratorKind("query", "Adds query parameters.") { roots in
        FieldType<ValueTable>.table(roots).map { table in
            var template = DecoratorTemplate { context throws(EvaluationFailure) in
                Query(try table.pairs(in: context.scope))
            }
            template.credentialParameters = table.secretNames
            return template
        }
    }

    /// `"prefer": "respond-async, wait=10"`, or an array of preferences
    static let prefer = DecoratorKind("prefer", "Adds preferences (RFC 7240).") { roots in
        let one = FieldType<Template>.template(roots)
        let type = FieldType<[Template]>.either(
            .array(of: one), when: { $0.isArray }, or: one.map { [$0] })
        return type.map { preferences in
            DecoratorTemplate { context throws(EvaluationFailure) in
                var texts: [String] = []
                for preference in preferences { texts.append(try preference.evaluateText(in: context.scope)) }
                return Prefer(texts)
            }
        }
    }

    /// `"gzip": { "minimumSize": "1KiB" }`
    static let gzip = DecoratorKind("gzip", "Compresses the body, and says so in Content-Encoding.") { roots in
        let least = Field(
            "minimumSize", FieldType<Setting<Int64>>.size(roots), default: "1KiB", "Shorter bodies stay as they are.")
        return .object([least]) { reader in
            let least = reader.value(least, default: .constant(1 << 10))
            return DecoratorTemplate { context throws(EvaluationFailure) in
                Gzip(minimumSize: try least.value(in: context.scope))
            }
        }
    }

    /// `"multipart": { "fields": {…}, "files": [ {…} ] }`: fields in their order, files after them
    static let multipart = DecoratorKind("multipart", "Makes the body a form with files (RFC 7578).") { roots in
        let fields = Field("fields", FieldType<ValueTable>.table(roots), "The fields, in their order.")
        let files = Field(
            "files", FieldType<[MultipartFile]>.array(of: MultipartFile.type(roots)), "The files, after the fields.")
        return .object([fields, files]) { reader in
            let table = reader.value(fields, default: ValueTable())
            let files = reader.value(files, default: [])
            var template = DecoratorTemplate { context throws(EvaluationFailure) in
                var parts = try table.pairs(in: context.scope).map { MultipartBody.Part.field($0.name, $0.value) }
                for file in files { parts += try file.parts(in: context) }
                return Multipart(parts)
            }
            template.makesBody = true
            return template
        }
    }
}
