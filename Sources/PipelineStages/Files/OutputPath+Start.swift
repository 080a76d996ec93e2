import CLibrary
import PipelineCore

extension OutputPath {
    /// Returns why a file can't be put where something else than a file stands, or a link to that: such a thing may
    /// have no end, or wait for a reader. Nil for a file, a folder (which other checks are about) and a place where
    /// nothing is.
    static func preflight(to path: String) -> StepFailure? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let kind: String
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: return nil
        case S_IFCHR, S_IFBLK: kind = "a device"
        case S_IFIFO: kind = "a pipe"
        case S_IFSOCK: kind = "a socket"
        default: kind = "no regular file"
        }
        return StepFailure(
            "\(path) is \(kind), and a result is a regular file",
            hint: "choose another \"to\"; a command can read the file")
    }
}

extension JobStart {
    /// Returns where the value of a `to` leads; nil while it is not known.
    func place(of to: Template) -> OutputPath? {
        guard knows(to.references), let text = try? to.evaluateText(in: known) else { return nil }
        return try? OutputPath(text, in: folders.output)
    }

    /// Returns why a value can't become the file that a `to` names, known now: besides what is in the way of any file, a folder.
    func preflight(toWritingFile to: Template) -> StepFailure? {
        switch place(of: to) {
        case .file(let path):
            var status = stat()
            if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                return StepFailure("\(path) is a folder", hint: "name a file in it, or choose another \"to\"")
            }
            return preflight(toWriting: to)
        case .folder(let path): return OutputPath.failure(ofFolder: path)
        case nil: return nil
        }
    }

    /// Returns why nothing can be written where a `to` leads: known now, and not only when all that comes before has been paid
    /// for. Nil when the folder, or the nearest above it that exists, takes files.
    func preflight(toWriting to: Template) -> StepFailure? {
        var folder: String
        switch place(of: to) {
        case .file(let path):
            if let failure = OutputPath.preflight(to: path) { return failure }
            folder = Folder.containing(path)
        case .folder(let path): folder = path
        case nil: return nil
        }
        var status = stat()
        while stat(folder, &status) != 0 {
            guard errno == ENOENT, folder != "/" else {
                return FileFailure.last("write to", folder).stepFailure(place: nil)
            }
            folder = Folder.containing(folder)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return FileFailure(action: "write to", path: folder, code: ENOTDIR).stepFailure(place: nil)
        }
        if access(folder, W_OK | X_OK) == 0 { return nil }
        return FileFailure.last("write to", folder).stepFailure(place: nil)
    }
}
