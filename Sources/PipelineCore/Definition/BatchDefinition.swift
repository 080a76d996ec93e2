import JSONPath

/// The document's `batch`: how it is done over many inputs; the command line wins over it.
package struct BatchDefinition: Sendable {
    /// Tells an item apart in its batch; nil for the value or the digest of its row.
    package let key: Template?
    /// The number of items that are begun and not ended; nil for the usual number.
    package let atOnce: Setting<Int>?
    package let tolerance: Setting<FailureTolerance>?
    /// The number of items in a row that must fail alike to stop the rest; nil for the usual number.
    package let stopAfter: Setting<Int>?
    /// The amount that items may cost; nil for any.
    package let spend: Setting<Double>?
    /// The values to report of each item that succeeded, by name.
    package let results: [Named<Template>]

    static let keyField = Field(
        "key", FieldType<Template>.template([]), examples: ["${{ inputs.id }}"],
        "Tells an item apart in its batch; without it a path, a line or a digest of the row does.")
    static let atOnceField = Field(
        "atOnce", FieldType<Setting<Int>>.count(1...100_000, roots: []), default: 64,
        "How many items are begun and not ended.")
    static let toleranceField = Field(
        "tolerate", FailureTolerance.type(roots: []), examples: ["5%", 10],
        "How many items may fail, a number or a share; beyond it nothing more begins.")
    static let stopAfterField = Field(
        "stopAfter", FieldType<Setting<Int>>.count(1...100_000, roots: []), default: 10,
        "So many items in a row that fail alike stop the rest.")
    static let spendField = Field(
        "spend", FieldType<Setting<Double>>.quantity(0...1e12, roots: []), examples: [20],
        "How much money items may cost, as \"cost\" of the stages counts it; then no more begin.")
    static let resultsField = Field(
        "results", FieldType<[Named<Template>]>.map(of: .template([.stages, .job])),
        examples: [["score": "${{ stages.model.score }}"]],
        "What 'results' tells of each item beyond its state and its files, by name.")

    /// The columns of the results of an item, whatever the document says.
    package static let fixedColumns = ["item", "state", "files", "cost", "seconds", "error"]

    static var type: FieldType<BatchDefinition> {
        .object([keyField, atOnceField, toleranceField, stopAfterField, spendField, resultsField]) { reader in
            let results = reader.value(resultsField, default: [])
            if let name = results.map(\.name).first(where: (fixedColumns + ["attempt"]).contains),
                let place = reader.place(of: "results")
            {
                reader.findings.report(
                    place, "\"\(name)\" is a column that the results of a batch have of themselves",
                    hint: "give it another name, such as \"\(name)Value\"")
            }
            return BatchDefinition(
                key: reader.optional(keyField), atOnce: reader.optional(atOnceField),
                tolerance: reader.optional(toleranceField), stopAfter: reader.optional(stopAfterField),
                spend: reader.optional(spendField), results: results)
        }
    }
}

extension Template {
    /// Reports secret inputs in the key of items, which stands in the journal and wherever items are shown.
    func reportSecrets(among inputs: [InputDefinition], to findings: DiagnosticCollector) {
        for reference in references {
            guard case .input(let name) = reference.root, inputs.contains(where: { $0.name == name && $0.isSecret })
            else { continue }
            findings.reportLately(
                range: reference.range, pointer: "/batch/key",
                "the secret input '\(name)' can't be in the key of items, which the journal keeps and lists show",
                hint: "let another input tell the items apart")
        }
    }
}
