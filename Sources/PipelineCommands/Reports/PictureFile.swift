import PipelineKit
import PipelinePictures

/// Pictures for a file of their own.
struct PictureFile {
    private let pictures: [Picture]

    init(_ pictures: [Picture]) { self.pictures = pictures }

    /// Writes them as one SVG file; `-` is standard output.
    ///
    /// - Parameter subject: what they are of, for the message that there is nothing to draw yet.
    func write(to path: String, of subject: String, _ console: Console) throws {
        guard !pictures.isEmpty else { return console.note("nothing can be drawn of \(subject) yet") }
        let text = Picture.file(pictures)
        if path == "-" { return console.data(text) }
        let file = AbsolutePath.of(path, in: AbsolutePath.workingDirectory)
        guard FileContent.write(Array(text.utf8), to: file) else {
            throw CommandError(.usage, "can't write \(path): \(FileContent.reason)", hint: "name another file")
        }
        console.note("\(pictures.count == 1 ? "1 picture" : "\(pictures.count) pictures") in \(path)")
    }
}
