/// The examples of the folder `Pipelines`, as they were when this was built.
enum ShippedExamples {
    static let names: [String] = []
    static func text(of name: String) -> String? { nil }
}
