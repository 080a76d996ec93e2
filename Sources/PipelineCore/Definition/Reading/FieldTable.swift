/// The fields of one sort of object, made once for all objects that are read by them.
package struct FieldTable: Sendable {
    package let fields: [any AnyField]
    /// Their names, in the same order.
    let names: [String]

    package init(_ fields: [any AnyField]) {
        self.fields = fields
        names = fields.map(\.name)
    }
}
