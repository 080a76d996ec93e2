/// The version of the program.
enum Version {
    static let text = "pipeline 0.1.0"
}
