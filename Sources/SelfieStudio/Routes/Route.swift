import HTTPTypes

/// The resources of the studio, read from a request's path.
enum Route: Equatable, Sendable {
    case health
    case stats
    case videos
    case video(String)
    case models
    case model(String)
    case file(String, ModelFile)

    /// nil if there is no such resource; a query is ignored.
    init?(path: String?) {
        let path = path?.prefix { $0 != "?" } ?? "/"
        let names = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (names.first, names.count) {
        case ("healthz", 1): self = .health
        case ("stats", 1): self = .stats
        case ("videos", 1): self = .videos
        case ("videos", 2) where Self.isName(names[1]): self = .video(names[1])
        case ("models", 1): self = .models
        case ("models", 2) where Self.isName(names[1]): self = .model(names[1])
        case ("models", 3) where Self.isName(names[1]):
            guard let file = ModelFile(rawValue: names[2]) else { return nil }
            self = .file(names[1], file)
        default: return nil
        }
    }

    /// The methods that `Allow` names.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .health, .stats, .file: [.get, .head, .options]
        case .videos, .models: [.get, .head, .post, .options]
        case .video: [.get, .head, .put, .options]
        case .model: [.get, .head, .delete, .options]
        }
    }

    /// Returns whether the body of the request is a video.
    func takesVideo(_ method: HTTPRequest.Method) -> Bool {
        switch self {
        case .videos: method == .post
        case .video: method == .put
        default: false
        }
    }

    /// Names become file names: letters, digits, and `.`, `_`, `-` after the first.
    private static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, first != UInt8(ascii: "."), name.utf8.count <= 100 else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}
