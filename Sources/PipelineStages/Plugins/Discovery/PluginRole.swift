/// The role that a program can have for a document; its file name says so.
package enum PluginRole: String, Sendable, Hashable, CaseIterable {
    /// A kind of stage.
    case stage
    /// An entry of a `with` list: it changes the description of a request.
    case decorator
    /// An entry of `notify`: it delivers notifications.
    case sink

    /// The beginning of its programs' names.
    package var prefix: String { "pipeline-\(rawValue)-" }
}
