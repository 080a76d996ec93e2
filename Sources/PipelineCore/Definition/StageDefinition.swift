import JSONPath

/// A stage as the document names it; everything else is read by its kind when it is planned.
public struct StageDefinition: Sendable {
    public let id: String
    let idPlace: Place
    public let kind: String
    let kindPlace: Place
    /// The whole object, for its kind.
    public let place: Place

    static let idField = Field("id", .name(.stage), required: true, "The stage's name within the document.")
    static let kindField = Field("kind", .string, required: true, "What the stage does.")

    static var type: FieldType<StageDefinition> {
        FieldType(schema: ["type": "object"]) { place, findings in
            guard let reader = ObjectReader(place, fields: [idField, kindField], findings: findings) else { return nil }
            let id = reader.required(idField)
            let kind = reader.required(kindField)
            guard let id, let kind, let idPlace = reader.place(of: "id"), let kindPlace = reader.place(of: "kind")
            else { return nil }
            return StageDefinition(id: id, idPlace: idPlace, kind: kind, kindPlace: kindPlace, place: place)
        }
    }
}
