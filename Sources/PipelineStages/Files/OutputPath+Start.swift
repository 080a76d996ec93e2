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

extension OutputPath {
    /// Returns why a file can't have its name, which its part has with an ending; nil for one that it can have.
    fileprivate static func failure(ofName path: String) -> StepFailure? {
        let (name, most) = (path.split(separator: "/").last ?? "", Int(NAME_MAX) - ".part".utf8.count)
        // A file that is there may be the one that is wanted.
        if name.utf8.count <= most || access(path, F_OK) == 0 { return nil }
        return StepFailure(
            "the name of \(path.prefix(200))… has \(name.utf8.count) bytes, and a result's has \(most) at most",
            hint: "choose another \"to\"")
    }
}

extension JobStart {
    /// Returns where the value of a `to` leads; nil while it is not known.
    func place(of to: Template) -> OutputPath? {
        guard knows(to.references), let text = try? to.evaluateText(in: known) else { return nil }
        return try? OutputPath(text, in: folders.output)
    }

    /// Returns the folder in which the value of a `to` will lie that is not known yet; nil while that is not known either.
    /// Texts of responses have no slash in them.
    private func knownFolder(of to: Template) -> String? {
        let (leading, unknown) = to.leading(while: knows)
        guard let unknown, unknown.allSatisfy(\.isOfResponse), let text = try? leading.evaluateText(in: known) else {
            return nil
        }
        guard let slash = text.lastIndex(of: "/") else { return folders.output }
        guard case .folder(let path) = try? OutputPath(String(text[...slash]), in: folders.output) else { return nil }
        return path
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
            if let failure = OutputPath.preflight(to: path) ?? OutputPath.failure(ofName: path) { return failure }
            folder = Folder.containing(path)
        case .folder(let path): folder = path
        case nil:
            guard let known = knownFolder(of: to) else { return nil }
            folder = known
        }
        var status = stat()
        while stat(folder, &status) != 0 {
            guard errno == ENOENT, folder != "/" else {
                return FileFailure.last("write to", folder).stepFailure(place: nil)
            }
            if lstat(folder, &status) == 0 {
                let hint = "it is a link to a folder that is not there; is the disk mounted?"
                return StepFailure("\(folder) leads nowhere", hint: hint)
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

extension Reference {
    /// True if it reads what a response gave.
    fileprivate var isOfResponse: Bool {
        switch root {
        case .capture, .own: true
        default: false
        }
    }
}
