import Crypto
import JSONPath
import PipelineCore

extension JobDraft {
    /// The key of a batch that nobody named: the pipeline's name, and eight digits of a digest of its sources and the
    /// folder they are relative to, so that the same command again is the same batch.
    package func batchKey(of sources: [String], in folder: String) -> String {
        let text = (sources + [folder]).joined(separator: "\u{0}")
        let digest = SHA256.hash(data: Array(text.utf8)).hex.prefix(8)
        let name = plan.definition.name.unicodeScalars.map { scalar in
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isPlain ? String(scalar) : "-"
        }
        return name.joined().prefix(60) + "-" + digest
    }

    /// The draft of one item: the values of its row over those that all items share, as the document has them now. A row
    /// that was read by an earlier one may lack an input, or have a value that this one does not take.
    func item(_ row: JSONObject) throws(StepFailure) -> JobDraft {
        // Secret inputs stand in no row, and the owner of the batch may not have them yet.
        let definitions = plan.definition.inputs.filter { !$0.isSecret }
        var given = shownInputs
        for member in row { given[member.name] = member.value }
        let folder = AbsolutePath.folder(of: path)
        do throws(InputsError) {
            let values = try InputValues(
                inputs: definitions, folders: (folder, folder), scope: known, standardInput: { nil }
            ).values(from: GivenInputs(document: given))
            return with(inputs: JSONObject((Array(values) + Array(secretInputs)).map { ($0.name, $0.value) }))
        } catch {
            throw error.problems.first ?? StepFailure("its inputs can't be read")
        }
    }

    /// Reads so much of the sources that what makes a batch impossible is known before anything begins; of standard
    /// input nothing.
    ///
    /// - Parameter results: the file that rows are to go to.
    package func checkSources(
        _ sources: [String], in folder: String, results: String?
    ) throws(ItemSourceError) {
        for text in sources {
            let source = try ItemSource(text, inputs: plan.definition.inputs.map(\.name))
            if source.isStandardInput { continue }
            if let results, try source.reads(results, in: folder) {
                throw ItemSourceError(
                    "the rows can't go to \(results): --each \(text) reads that file",
                    hint: "name another file with --results")
            }
            _ = try SourceItems(source, draft: self, working: folder, folders: nil, from: nil)
        }
    }
}
