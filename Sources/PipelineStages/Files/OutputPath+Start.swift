import PipelineCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension JobStart {
    /// Where the value of a `to` leads; nil while it is not known.
    func place(of to: Template) -> OutputPath? {
        guard knows(to.references), let text = try? to.evaluateText(in: known) else { return nil }
        return try? OutputPath(text, in: folders.output)
    }

    /// Why nothing can be written where a `to` leads: known now, and not only when all that comes before has been paid
    /// for. Nil when the folder, or the nearest above it that exists, takes files.
    func objection(toWriting to: Template) -> StepFailure? {
        var folder: String
        switch place(of: to) {
        case .file(let path): folder = Folder.containing(path)
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
