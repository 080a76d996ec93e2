/// The files of a finished model; the raw value is the last part of their path at the service.
enum ModelFile: String, Codable, CaseIterable, Sendable {
    /// The mesh, as Wavefront OBJ.
    case mesh = "mesh.obj"
    /// A picture of it.
    case preview = "preview.png"
    /// A page that turns it.
    case page = "page.html"

    /// The media type: RFC 9695 for meshes.
    var mediaType: String {
        switch self {
        case .mesh: "model/obj"
        case .preview: "image/png"
        case .page: "text/html; charset=utf-8"
        }
    }

    /// The end of the file's name on disk.
    var suffix: String {
        switch self {
        case .mesh: ".obj"
        case .preview: ".png"
        case .page: ".html"
        }
    }
}
