import PipelineCore
import PipelineHTTP

/// A page of the list of the parts that S3 has of an upload (ListParts).
///
/// https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListParts.html
struct StoredPartsPage {
    struct Part: Equatable {
        let number: Int
        let tag: String
        /// In bytes.
        let size: Int64?
        /// Nil where the list has none.
        let checksum: String?
    }

    /// Nil where the page does not say of each part what it has to.
    let parts: [Part]?
    /// The number behind which the next page begins; nil at the end.
    let next: Int?

    /// Nil for a page of somebody else's: it is no empty list, with which all parts would be sent once more.
    ///
    /// - Parameter checksum: the element that a part's checksum stands in.
    init?(_ answer: ServiceResponse, checksum: String?) {
        // Some services call it a response.
        func texts(_ path: String) -> [String] {
            let usual = answer.xmlTexts("/ListPartsResult/\(path)")
            return usual.isEmpty ? answer.xmlTexts("/ListPartsResponse/\(path)") : usual
        }
        let numbers = texts("Part/PartNumber")
        let marks = ["IsTruncated", "UploadId", "PartNumberMarker"]
        guard !numbers.isEmpty || marks.contains(where: { !texts($0).isEmpty }) else { return nil }
        let (tags, sizes) = (texts("Part/ETag"), texts("Part/Size"))
        let sums = checksum.map { texts("Part/\($0)") } ?? []
        let isWhole = numbers.count == tags.count && numbers.count == sizes.count
        parts =
            isWhole
            ? numbers.indices.compactMap { index in
                Int(numbers[index]).map { number in
                    Part(
                        number: number, tag: tags[index], size: Int64(sizes[index]),
                        checksum: sums.count == numbers.count ? sums[index] : nil)
                }
            } : nil
        let isTruncated = texts("IsTruncated").first == "true"
        next = isTruncated ? texts("NextPartNumberMarker").first.flatMap { Int($0) } : nil
    }
}
