import CLibrary
import PipelineCore

extension JobStart {
    /// The file that a `to` leads to, by the one name that it has whatever links and `..` lead there; nil while it is not
    /// known, and for a folder, in which the server names it.
    func target(of to: Template?) -> String? {
        guard case .file(let path)? = to.flatMap(place(of:)) else { return nil }
        return Folder.realPath(of: path)
    }
}

extension Folder {
    /// The one path of a file, whatever links and `..` lead there.
    static func realPath(of file: String) -> String {
        let folder = real(containing(file))
        return folder + (folder == "/" ? "" : "/") + file.split(separator: "/").suffix(1).joined()
    }

    /// The path of a folder without links and `..`. Below the last that exists nothing can be a link when it is made.
    private static func real(_ path: String) -> String {
        if let found = realpath(path, nil) {
            defer { free(found) }
            return String(cString: found)
        }
        guard path != "/" else { return path }
        let parent = real(containing(path))
        let name = path.split(separator: "/").last ?? ""
        if name == ".." { return containing(parent) }
        return parent + (parent == "/" ? "" : "/") + name
    }
}

extension DownloadStage {
    /// What is unpacked has its folder for itself, and replaces it as a whole.
    func target(at start: JobStart) -> String? {
        if unpack?.format.isFolder == true, case .folder(let path)? = start.place(of: to) {
            return Folder.realPath(of: path)
        }
        return start.target(of: to)
    }
}

extension RequestStage {
    func target(at start: JobStart) -> String? { start.target(of: to) }
}

extension WriteStage {
    func target(at start: JobStart) -> String? { start.target(of: to) }
}
