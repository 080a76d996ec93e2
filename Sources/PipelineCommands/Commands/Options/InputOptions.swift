import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// The flags by which inputs are given.
struct InputOptions: ParsableArguments {
    @Option(
        name: [.customShort("i"), .customLong("input")],
        help: ArgumentHelp("The value of an input; @PATH reads a file, @- standard input.", valueName: "name=value"),
        completion: .inputs)
    var input: [String] = []

    @Option(help: ArgumentHelp("A JSON object with the values of inputs.", valueName: "file"), completion: .pipelines)
    var inputs: String?

    func validate() throws { try StandardInput.check(Self.pipes(input)) }

    /// The arguments that mean standard input, as a message names them.
    static func pipes(_ input: [String]) -> [String] {
        input.filter { (try? assignment($0))?.value == "@-" }.map { "-i \($0)" }
    }

    /// Returns what was given, its documents read.
    func values() throws -> GivenInputs {
        GivenInputs(assignments: try input.map(Self.assignment), document: try inputsDocument())
    }

    /// Takes `NAME=VALUE` apart.
    static func assignment(_ text: String) throws -> (name: String, value: String) {
        guard let equals = text.unicodeScalars.firstIndex(of: "="), equals > text.startIndex else {
            throw CommandError(.usage, "'-i \(text)' has no NAME= before its value", hint: "write -i NAME=VALUE")
        }
        return (String(text[..<equals]), String(text[text.unicodeScalars.index(after: equals)...]))
    }

    private func inputsDocument() throws -> JSONObject {
        guard let inputs else { return [:] }
        guard let bytes = FileContent.bytes(inputs) else {
            throw CommandError(
                .invalid, "cannot read \(inputs): \(FileContent.reason)", hint: "check the path given with --inputs")
        }
        do throws(JSONSyntaxError) {
            guard let object = try JSON.parse(bytes).object else {
                throw JSONSyntaxError(
                    range: SourceRange(start: 0, end: 1), message: "this must be an object of inputs by name",
                    hint: "write { \"NAME\": VALUE }")
            }
            return object
        } catch {
            let place = SourceText(name: inputs, bytes: bytes).position(at: error.offset)
            throw CommandError(
                .invalid, "\(inputs):\(place.line):\(place.column): \(error.message)",
                hint: error.hint ?? "the file of --inputs is one JSON object: { \"NAME\": VALUE }")
        }
    }
}
