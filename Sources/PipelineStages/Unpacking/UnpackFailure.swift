import PipelineCore

/// The reason why a packed file was not unpacked; nothing of it is left then.
enum UnpackFailure: Error, Sendable, Hashable {
    /// It is nothing that can be unpacked.
    case unknownForm(UnpackDefinition.Format)
    /// It is broken; libarchive's words.
    case damaged(String)
    case encrypted
    /// An entry would lead out of the target, or is no file.
    case unsafe(entry: String, reason: String)
    case tooLarge(limit: Int64)
    case tooMany(limit: Int)
    /// The disk refused.
    case file(FileFailure)
    /// The machine has no libarchive.
    case noLibrary
    /// The task was cancelled.
    case stopped

    /// True if another file has to come before it can be unpacked.
    var isOfContent: Bool {
        switch self {
        case .unknownForm, .damaged, .encrypted, .unsafe, .tooLarge, .tooMany: true
        case .file, .noLibrary, .stopped: false
        }
    }

    /// One sentence for a person, and what to do.
    func stepFailure(_ path: String, place: String) -> StepFailure {
        switch self {
        case .unknownForm(let format):
            StepFailure(
                format == .auto
                    ? "\(path) is neither zip nor tar nor a compressed file" : "\(path) is not of the form \(format)",
                hint: "look at what the service sent; without \"unpack\" it is kept as it came", place: place)
        case .damaged(let words):
            StepFailure(
                "\(path) can't be unpacked: \(words)",
                hint: "it is broken at the service; \"verify\" would have told", place: place)
        case .encrypted:
            StepFailure(
                "\(path) is encrypted", hint: "leave \"unpack\" out, and unpack it with its password", place: place)
        case .unsafe(let entry, let reason):
            StepFailure(
                "\(path) is not unpacked: of its entry '\(ShownText.excerpt(entry))' \(reason)",
                hint: "an honest archive has no such entry; without \"unpack\" it is kept as it came", place: place)
        case .tooLarge(let limit):
            StepFailure(
                "\(path) is not unpacked: more than \(SizeText.describe(limit)) would come out of it",
                hint: "if that is right, say so: \"unpack\": { \"format\": …, \"maximumSize\": \"…\" }", place: place)
        case .tooMany(let limit):
            StepFailure(
                "\(path) is not unpacked: it has more than \(limit) entries",
                hint: "without \"unpack\" it is kept as it came", place: place)
        case .file(let failure): failure.stepFailure(place: place)
        case .noLibrary:
            StepFailure(
                "\(path) can't be unpacked: the library libarchive is not there",
                hint: "install it: 'apt install libarchive13', on Fedora 'dnf install libarchive'", place: place)
        case .stopped: StepFailure("unpacking was stopped", place: place)
        }
    }
}
