/// A `multipart/form-data` body (RFC 7578) that is streamed: any number of parts, files of any size.
///
/// Parts go out in their order. Names and file names are escaped as HTML forms do (WHATWG HTML, "multipart form
/// data"): `"` as `%22`, CR as `%0D`, LF as `%0A`, so that no value can end its line.
public struct MultipartBody: Sendable {
    /// One part: a field of the form, or a file.
    public struct Part: Sendable, Equatable {
        /// The name of the form's field.
        public var name: String
        /// The name of the file, for a part that is one.
        public var filename: String?
        /// The media type of the content.
        public var contentType: String?
        /// The bytes of the part.
        public var content: BodySegment

        /// A part of a form.
        public init(name: String, filename: String? = nil, contentType: String? = nil, content: BodySegment) {
            self.name = name
            self.filename = filename
            self.contentType = contentType
            self.content = content
        }

        /// A text field.
        public static func field(_ name: String, _ value: String) -> Part {
            Part(name: name, content: .bytes(Array(value.utf8)))
        }

        /// A range of a file; `contentType` is `application/octet-stream` unless given.
        public static func file(
            _ name: String, path: String, offset: Int64 = 0, length: Int64, filename: String? = nil,
            contentType: String? = nil
        ) -> Part {
            Part(
                name: name,
                filename: filename ?? String(path.split(separator: "/").last ?? "file"),
                contentType: contentType ?? "application/octet-stream",
                content: .file(path: path, offset: offset, length: length)
            )
        }
    }

    /// Separates the parts; 1 to 70 characters that must not occur in any of them (RFC 2046 §5.1.1).
    public let boundary: String
    /// The parts, in their order.
    public var parts: [Part]

    /// A form; no part may hold the boundary.
    public init(boundary: String, parts: [Part]) {
        self.boundary = boundary
        self.parts = parts
    }

    /// The value of the request's `Content-Type`.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// The exact bytes, head of part, content, and so on up to the closing delimiter.
    var segments: [BodySegment] {
        var segments: [BodySegment] = []
        var text = ""
        for part in parts {
            text += "--\(boundary)\r\n\(Self.head(of: part))\r\n"
            segments.append(.bytes(Array(text.utf8)))
            segments.append(part.content)
            text = "\r\n"
        }
        segments.append(.bytes(Array("\(text)--\(boundary)--\r\n".utf8)))
        return segments
    }

    private static func head(of part: Part) -> String {
        var head = "Content-Disposition: form-data; name=\"\(escaped(part.name))\""
        if let filename = part.filename { head += "; filename=\"\(escaped(filename))\"" }
        head += "\r\n"
        if let type = part.contentType { head += "Content-Type: \(escaped(type, quotes: false))\r\n" }
        return head
    }

    private static func escaped(_ text: String, quotes: Bool = true) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"" where quotes: result += "%22"
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            case "\0": result += "%00"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
