import Foundation
import HTTPTypes
import PipelineHTTP
import PipelineTestKit
import Testing

/// Vectors that AWS published: its Signature Version 4 test suite, the IAM guide's example, and the examples of
/// "Signature Calculations for the Authorization Header" in the S3 reference.
@Suite("A request signed for AWS")
struct AWSSignatureTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var name: String
        var method: HTTPRequest.Method
        var url: String
        var headers: [(String, String)] = []
        var body = ""
        var signature: String
        var testDescription: String { name }
    }

    private func signed(
        _ vector: Vector, secret: String, access: String, service: String, seconds: Int64
    ) async throws -> RequestDescription {
        var request = RequestDescription(method: vector.method, url: vector.url)
        for (name, value) in vector.headers { try request.addHeader(name, value) }
        if !vector.body.isEmpty { request.body = .text(vector.body) }
        return try await RequestBuilder().build(
            request,
            decorators: [AWSSignature(region: "us-east-1", service: service, accessKey: access, secretKey: secret)],
            context: DecorationContext(time: { .seconds(seconds) }))
    }

    private func signature(_ request: RequestDescription) -> String? {
        request.headers[.authorization]?.split(separator: "=").last.map(String.init)
    }

    static let published = [
        Vector(
            name: "get-vanilla", method: .get, url: "https://example.amazonaws.com/",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Vector(
            name: "get-vanilla-query-order-key-case", method: .get,
            url: "https://example.amazonaws.com/?Param2=value2&Param1=value1",
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        Vector(
            name: "post-vanilla", method: .post, url: "https://example.amazonaws.com/",
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        Vector(
            name: "post-x-www-form-urlencoded", method: .post, url: "https://example.amazonaws.com/",
            headers: [("Content-Type", "application/x-www-form-urlencoded")], body: "Param1=value1",
            signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        Vector(
            name: "get-vanilla-utf8-query", method: .get, url: "https://example.amazonaws.com/?\u{1234}=bar",
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
        Vector(
            name: "post-header-key-sort", method: .post, url: "https://example.amazonaws.com/",
            headers: [("My-Header1", "value1")],
            signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"),
        Vector(
            name: "get-unreserved", method: .get,
            url: "https://example.amazonaws.com/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
        Vector(
            name: "get-relative-normalized", method: .get, url: "https://example.amazonaws.com/example/..",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Vector(
            name: "get-slashes", method: .get, url: "https://example.amazonaws.com//./",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    ]

    @Test("has the signature of the published test suite", arguments: AWSSignatureTests.published)
    func suite(vector: Vector) async throws {
        let request = try await signed(
            vector, secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", access: "AKIDEXAMPLE", service: "service",
            seconds: 1_440_938_160)
        #expect(request.headers[.init("X-Amz-Date")!] == "20150830T123600Z")
        #expect(signature(request) == vector.signature)
    }

    @Test("has the signature of the guide's example")
    func guide() async throws {
        let vector = Vector(
            name: "ListUsers", method: .get, url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
            headers: [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")],
            signature: "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7")
        let request = try await signed(
            vector, secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", access: "AKIDEXAMPLE", service: "iam",
            seconds: 1_440_938_160)
        #expect(
            request.headers[.authorization]
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
                + "SignedHeaders=content-type;host;x-amz-date, Signature=\(vector.signature)")
    }

    static let objects = [
        Vector(
            name: "GET Object", method: .get, url: "https://examplebucket.s3.amazonaws.com/test.txt",
            headers: [("Range", "bytes=0-9")],
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        Vector(
            name: "PUT Object", method: .put, url: "https://examplebucket.s3.amazonaws.com/test$file.text",
            headers: [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
            body: "Welcome to Amazon S3.",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        Vector(
            name: "GET Bucket Lifecycle", method: .get, url: "https://examplebucket.s3.amazonaws.com/?lifecycle",
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Vector(
            name: "GET Bucket", method: .get, url: "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J",
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]

    @Test("has the signature of the S3 reference's examples", arguments: AWSSignatureTests.objects)
    func storage(vector: Vector) async throws {
        let request = try await signed(
            vector, secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", access: "AKIAIOSFODNN7EXAMPLE", service: "s3",
            seconds: 1_369_353_600)
        #expect(signature(request) == vector.signature)
    }

    @Test("covers the query that decorators added, and leaves a presigned URL as it is")
    func query() async throws {
        let signer = AWSSignature(region: "r", service: "s3", accessKey: "a", secretKey: "b", sessionToken: "t")
        let context = DecorationContext(time: { .seconds(0) })
        let description = RequestDescription(url: "http://h/a?x=1")
        let one = try await RequestBuilder().build(
            description, decorators: [Query([("y", "a b")]), signer], context: context)
        let other = try await RequestBuilder().build(
            RequestDescription(url: "http://h/a?x=1&y=a%20b"), decorators: [signer], context: context)
        #expect(one.headers == other.headers)
        #expect(one.url == "http://h/a?x=1&y=a%20b")
        #expect(one.headers[.init("X-Amz-Security-Token")!] == "t")
        let presigned = RequestDescription(url: "http://h/a?X-Amz-Signature=1")
        #expect(try await RequestBuilder().build(presigned, decorators: [signer], context: context).headers.isEmpty)
    }

    @Test("leaves a file unhashed over https, and hashes the stretch that is sent over http")
    func files() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("a")
        try "Welcome to Amazon S3.".write(toFile: path, atomically: true, encoding: .utf8)
        let signer = AWSSignature(region: "r", service: "s3", accessKey: "a", secretKey: "b")
        let name = try #require(HTTPField.Name("X-Amz-Content-Sha256"))
        // Of "Amazon".
        let hashed = "49d2dc07acd9eff540ded01867adfbcbc4139f5fd7cb0eed6c717edb10ffa8fd"
        for (scheme, digest) in [("https", "UNSIGNED-PAYLOAD"), ("http", hashed)] {
            let request = try await RequestBuilder().build(
                RequestDescription(
                    method: .put, url: "\(scheme)://h/a", body: .file(path: path, offset: 11, length: 6)),
                decorators: [signer], context: DecorationContext(time: { .seconds(0) }))
            #expect(request.headers[name] == digest)
        }
    }
}
