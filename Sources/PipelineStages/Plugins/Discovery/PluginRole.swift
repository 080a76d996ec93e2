/// What a program can be to a document; its file name says so.
package enum PluginRole: String, Sendable, Hashable, CaseIterable {
    /// A kind of stage.
    case stage
    /// An entry of a `with` list: it changes the description of a request.
    case decorator
    /// An entry of `notify`: it delivers notifications.
    case sink

    /// How the names of its programs begin.
    package var prefix: String { "pipeline-\(rawValue)-" }
}
