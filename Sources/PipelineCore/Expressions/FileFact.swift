package import JSONPath

/// A fact about a file as it is journaled: with the fingerprint of the file that it was found in, so that no two facts
/// of a job are about two states of one file.
///
/// No fact about a file is an object, so one without a fingerprint, as it was journaled before, is told apart.
package struct FileFact: Sendable {
    package let value: JSON
    /// Tells one state of the file from another; nil when it is not known.
    package let fingerprint: String?

    package init(value: JSON, fingerprint: String?) {
        self.value = value
        self.fingerprint = fingerprint
    }

    /// Reads what ``json`` wrote.
    package init(_ json: JSON) {
        guard let object = json.object, let value = object["value"], let fingerprint = object["file"]?.string else {
            self.init(value: json, fingerprint: nil)
            return
        }
        self.init(value: value, fingerprint: fingerprint)
    }

    /// The form in the journal.
    package var json: JSON {
        guard let fingerprint else { return value }
        return ["value": value, "file": .string(fingerprint)]
    }
}
