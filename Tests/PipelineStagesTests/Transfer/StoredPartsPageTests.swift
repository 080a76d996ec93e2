import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import Testing

@testable import PipelineStages

@Suite("A page of the list of the parts that a storage has")
struct StoredPartsPageTests {
    private func page(_ content: String, root: String = "ListPartsResult", checksum: String? = nil) -> StoredPartsPage?
    {
        let text =
            "<?xml version=\"1.0\"?><\(root) xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(content)</\(root)>"
        return StoredPartsPage(
            ServiceResponse(status: 200, url: "http://h/x", body: Array(text.utf8)), checksum: checksum)
    }

    private func part(_ number: Int, _ more: String = "") -> String {
        "<Part><PartNumber>\(number)</PartNumber><ETag>\"t\(number)\"</ETag><Size>\(number * 10)</Size>\(more)</Part>"
    }

    @Test("has the parts, and where the next page begins", arguments: ["ListPartsResult", "ListPartsResponse"])
    func parts(root: String) throws {
        let more = "<IsTruncated>true</IsTruncated><NextPartNumberMarker>2</NextPartNumberMarker>"
        let found = try #require(page(more + part(1) + part(2), root: root))
        #expect(
            found.parts == [
                .init(number: 1, tag: "\"t1\"", size: 10, checksum: nil),
                .init(number: 2, tag: "\"t2\"", size: 20, checksum: nil),
            ])
        #expect(found.next == 2)
    }

    @Test("ends the list where it does not say that it is cut")
    func end() throws {
        let marker = "<NextPartNumberMarker>2</NextPartNumberMarker>"
        #expect(try #require(page("<IsTruncated>false</IsTruncated>" + marker)).next == nil)
        #expect(try #require(page("<UploadId>u</UploadId>" + marker)).parts == [])
    }

    @Test("has the checksums where each part has one")
    func checksums() throws {
        let sum = "<ChecksumCRC32C>abc=</ChecksumCRC32C>"
        #expect(page(part(1, sum), checksum: "ChecksumCRC32C")?.parts?.first?.checksum == "abc=")
        #expect(page(part(1, sum) + part(2), checksum: "ChecksumCRC32C")?.parts?.map(\.checksum) == [nil, nil])
        #expect(page(part(1, sum))?.parts?.first?.checksum == nil)
    }

    @Test("makes no sense where something of a part is missing")
    func gap() throws {
        let found = try #require(page(part(1) + "<Part><PartNumber>2</PartNumber><ETag>t</ETag></Part>"))
        #expect(found.parts == nil)
    }

    @Test("is none where it is somebody else's")
    func foreign() {
        #expect(page("<Message>not here</Message>") == nil)
        #expect(page(part(1), root: "html") == nil)
    }
}
