import CTexts

/// The examples that the program carries, by name: the files of the folder `Pipelines`.
enum ShippedExamples {
    static let names = all.map(\.name)

    static func text(of name: String) -> String? { all.first { $0.name == name }?.text }

    private static let all: [(name: String, text: String)] = (0...).lazy
        .map { pipeline_example_at($0)?.pointee }.prefix { $0 != nil }.compactMap(\.self)
        .map { (String(cString: $0.name), String(cString: $0.text)) }
}
