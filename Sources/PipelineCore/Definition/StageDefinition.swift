import JSONPath

/// A stage as the document names it; everything else is read by its kind when it is planned.
package struct StageDefinition: Sendable {
    /// The id as written, also when it is not a valid one; empty when there is none. Then it was reported.
    package let id: String
    let idPlace: SourceLocation
    /// The kind as written; nil when there is none, which was reported.
    package let kind: String?
    let kindPlace: SourceLocation
    /// The whole object, for its kind.
    package let place: SourceLocation

    static let idField = Field(
        "id", .name(.stage), required: true, examples: ["upload"], "The stage's name within the document.")
    static let kindField = Field("kind", .string, required: true, examples: ["request"], "What the stage does.")

    /// Returns what kind a stage without one most likely is.
    private static func kindAdvice(_ place: SourceLocation) -> String? {
        let members = place.members?.map(\.member) ?? []
        func has(_ names: String...) -> Bool { members.contains { names.contains($0.name) } }
        let kinds = ["upload", "compute", "download", "write", "wait"]
        if let kind = members.first(where: { kinds.contains($0.name) && $0.value.content.isObject })?.name {
            return "write \"kind\": \"\(kind)\", and the keys of \"\(kind)\" beside it"
        }
        let kind: String? =
            if has("submit", "poll") { "compute" } else if has("protocol", "partSize") { "upload" } else if has("for") {
                "wait"
            } else if has("verify", "unpack") { "download" } else if has("request") { "request" } else if has("base64")
            {
                "write"
            } else { nil }
        return kind.map { "add \"kind\": \"\($0)\"" }
    }

    /// A stage is kept in spite of its mistakes, so that references to it are not mistakes too.
    static var type: FieldType<StageDefinition> {
        let table = FieldTable([idField, kindField])
        return FieldType(schema: ["title": "stage"]) { place, findings in
            guard let reader = ObjectReader(place, table: table, findings: findings) else { return nil }
            _ = reader.required(idField)
            let kind = reader.required(kindField, hint: reader.has("kind") ? nil : kindAdvice(place))
            let (idPlace, kindPlace) = (reader.place(of: "id"), reader.place(of: "kind"))
            if place.members?.contains(where: { $0.member.name == "kind" }) != true { reader.reportGuessed() }
            return StageDefinition(
                id: idPlace?.text ?? "", idPlace: idPlace ?? place, kind: kind, kindPlace: kindPlace ?? place,
                place: place)
        }
    }
}
