import JSONPath
import PipelineCore

/// `unpack`: what the downloaded file is, and how much may come out of it.
struct UnpackDefinition: Sendable {
    /// The forms of packed files; the raw value is the document's word.
    enum Format: String, Sendable, Hashable, CaseIterable {
        /// A folder of files.
        case zip
        /// A folder of files, also compressed as a whole (gzip, bzip2, xz, zstd).
        case tar
        /// One compressed file.
        case gz
        /// Whatever it turns out to be.
        case auto

        /// True if the result is known to be a folder.
        var isFolder: Bool { self == .zip || self == .tar }
    }

    var format: Format
    /// The author's own limit for what comes out.
    var maximumSize: Setting<Int64>?

    private static let formatField = Field(
        "format", FieldType<Format>.word("packed form"), required: true, examples: ["auto"],
        "What the file is: zip, tar (compressed or not), gz, or auto for whichever it turns out to be.")
    private static let sizeField = Field(
        "maximumSize", FieldType<Setting<Int64>>.size(),
        "How much may come out of it; without it 200 times its size, at least 256 MiB. Entries: a million at most.")

    /// A word, or an object that also has a limit.
    static let type = FieldType<UnpackDefinition>.either(
        FieldType<Format>.word("packed form").map { UnpackDefinition(format: $0) }, when: \.isString,
        or: .object([formatField, sizeField]) { reader in
            let format = reader.required(formatField)
            let size = reader.optional(sizeField)
            return format.map { UnpackDefinition(format: $0, maximumSize: size) }
        })
}

/// The limits of what may come out of a packed file: a small one that would fill the disk is refused.
struct UnpackLimits: Sendable, Hashable {
    /// Bytes of all files together.
    var bytes: Int64
    var entries = 1_000_000

    /// Text of one repeated letter packs a thousandfold; what people send packs tenfold.
    static let ratio: Int64 = 200
    static let free: Int64 = 256 << 20
    static let most: Int64 = 1 << 40

    init(bytes: Int64) { self.bytes = bytes }

    /// The limits of a packed file of that many bytes.
    init(packed: Int64, maximumSize: Int64?) {
        let (product, isHuge) = packed.multipliedReportingOverflow(by: Self.ratio)
        bytes = maximumSize ?? min(max(isHuge ? .max : product, Self.free), Self.most)
    }
}
