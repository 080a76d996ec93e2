import HTTPTypes
import JSONPath
import PipelineCore
import Testing

@testable import PipelineStages

@Suite("What a download reads from fields")
struct DownloadFactsTests {
    @Test(
        "a file name",
        arguments: [
            ("attachment; filename=\"a b.obj\"", "a b.obj"), ("attachment; filename=plain.txt", "plain.txt"),
            ("attachment; filename=\"x.txt\"; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
            ("inline; filename*=iso-8859-1'en'%A3.txt", "£.txt"),
            ("attachment; filename=\"a\\\"b;c.txt\"", "a\"b;c.txt"),
            ("attachment; filename*=UTF-8''%zz; filename=ok", "ok"),
        ])
    func disposition(field: String, name: String) { #expect(ContentDisposition.fileName(field) == name) }

    @Test("no file name", arguments: ["attachment", "inline; filename=\"\"", "filename=x", ""])
    func noName(field: String) { #expect(ContentDisposition.fileName(field) == nil) }

    @Test(
        "a safe name",
        arguments: [
            ("../../etc/passwd", "passwd"), ("C:\\temp\\x.txt", "x.txt"), ("...hidden", "hidden"), (" .a", "a"),
            ("a\u{7}\u{202E}b", "ab"), ("/x/", "x"), ("dir/sub/", "sub"),
        ])
    func safe(text: String, name: String) { #expect(SafeFileName.make(text) == name) }

    @Test(
        "no mark that joins itself to a separator hides it",
        arguments: [
            "up/\u{200D}../\u{200D}../\u{200D}x.txt", "up/\u{301}../\u{301}../x.txt", "up\\\u{200C}..\\\u{FE0F}x.txt",
            "..\u{200D}/\u{200D}..\u{301}/x.txt", "\u{200D}.\u{200D}./\u{200D}x.txt",
        ])
    func joined(text: String) throws {
        let name = try #require(SafeFileName.make(text))
        #expect(!name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(UInt8(ascii: "\\")), "\(name)")
        #expect(name.utf8.first != UInt8(ascii: "."))
        #expect(name.hasSuffix("x.txt"))
    }

    @Test("nothing that could be a name", arguments: ["", "..", "/", "...", "\u{1}", ".\u{200D}.", "/\u{200D}"])
    func unsafe(text: String) { #expect(SafeFileName.make(text) == nil) }

    @Test("a long name keeps its extension")
    func long() {
        let name = SafeFileName.make(String(repeating: "é", count: 300) + ".tar")
        #expect(name?.utf8.count ?? 999 <= 230)
        #expect(name?.hasSuffix(".tar") == true)
    }

    @Test(
        "a range",
        arguments: [
            ("bytes 0-9/100", ContentRange.part(first: 0, last: 9, total: 100)),
            ("bytes 5-9/*", .part(first: 5, last: 9, total: nil)), ("bytes */77", .unsatisfied(total: 77)),
        ])
    func range(text: String, value: ContentRange) { #expect(ContentRange(text) == value) }

    @Test(
        "no range",
        arguments: [
            "bytes 9-0/100", "bytes 0-100/100", "items 0-1/2", "bytes a-b/c", "bytes */*", "0-1/2", "bytes -1-2/3",
        ])
    func noRange(text: String) { #expect(ContentRange(text) == nil) }

    @Test("a digest in any of its forms")
    func digests() {
        let hex = TransferFolder.sha256(Array("x".utf8))
        let base64 = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="
        for text in [
            hex, hex.uppercased(), base64, "sha256:\(hex)", "sha-256=:\(base64):", "\"\(hex)\"", "SHA256 \(hex)",
        ] {
            #expect(DeclaredDigest(text, source: "t")?.hex == hex, "\(text)")
        }
        #expect(DeclaredDigest("1B2M2Y8AsgTpgAmY7PhCfg==", source: "t")?.algorithm == .md5)
        for text in ["", "abc", hex + "00", "sha512:"] { #expect(DeclaredDigest(text, source: "t") == nil) }
    }

    @Test("the digests that a service states, by what they are about")
    func stated() {
        let base64 = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="
        let headers: HTTPFields = [
            .reprDigest: "sha-256=:\(base64):, md5=:1B2M2Y8AsgTpgAmY7PhCfg==:", .contentDigest: "sha-256=:\(base64):",
            .contentMD5: "1B2M2Y8AsgTpgAmY7PhCfg==",
        ]
        #expect(
            DeclaredDigest.stated(in: headers, isWhole: true).map(\.source) == [
                "Repr-Digest", "Content-Digest", "Content-MD5",
            ])
        #expect(DeclaredDigest.stated(in: headers, isWhole: false).map(\.source) == ["Repr-Digest"])
    }

    @Test("the checksums that stores give in fields of their own, but not digests of digests")
    func stores() {
        // "123456789", the check value of both polynomials: CBF43926 and E3069283.
        let google: HTTPFields = HTTPFields([
            HTTPField(name: .googleHash, value: "crc32c=4waSgw=="),
            HTTPField(name: .googleHash, value: "md5=JfnnlDI7RTiF9RgfG2JNCw=="),
        ])
        let both = [DeclaredDigest.Algorithm.crc32c, .md5]
        #expect(DeclaredDigest.stated(in: google, isWhole: false).map(\.algorithm) == both)
        #expect(DeclaredDigest.stated(in: google, isWhole: true).map(\.hex).first == "e3069283")
        var unpacked = google
        unpacked[.storedEncoding] = "gzip"
        #expect(DeclaredDigest.stated(in: unpacked, isWhole: true).isEmpty)
        let name = HTTPField.Name("x-amz-checksum-crc32")!
        #expect(DeclaredDigest.stated(in: [name: "y/Q5Jg=="], isWhole: true).map(\.hex) == ["cbf43926"])
        #expect(DeclaredDigest.stated(in: [name: "y/Q5Jg==-3"], isWhole: true).isEmpty)
        #expect(DeclaredDigest.stated(in: [name: "y/Q5Jg==", .amazonType: "COMPOSITE"], isWhole: true).isEmpty)
    }

    @Test("a cyclic checksum is the published one, however the bytes are cut")
    func checksums() {
        for (kind, expected) in [(DigestAlgorithm.crc32, "cbf43926"), (.crc32c, "e3069283")] {
            for cut in 0...9 {
                let bytes = Array("123456789".utf8)
                var checksum = kind.begin()
                bytes[..<cut].withUnsafeBytes { checksum.update(bufferPointer: $0) }
                bytes[cut...].withUnsafeBytes { checksum.update(bufferPointer: $0) }
                #expect(checksum.value.hex == expected)
            }
        }
    }

    @Test("a validator only when it is strong")
    func validators() {
        #expect(Validator([.eTag: "\"a\""]) == .entityTag("\"a\""))
        #expect(Validator([.eTag: "W/\"a\""]) == nil)
        #expect(Validator([.eTag: "\"\""]) == nil)
        let modified = "Fri, 20 Nov 2026 12:00:00 GMT"
        #expect(Validator([.lastModified: modified, .date: "Fri, 20 Nov 2026 12:00:01 GMT"]) == .modified(modified))
        #expect(Validator([.lastModified: modified, .date: modified]) == nil)
        #expect(Validator([.lastModified: modified]) == nil)
    }

    @Test(
        "where an answer leads",
        arguments: [
            (
                206, ["Content-Range": "bytes 50-99/100", "ETag": "\"a\""],
                DownloadSession.Verdict.rest(end: 100, total: 100)
            ),
            (206, ["Content-Range": "bytes 40-99/100"], .restart("the service sent another range than was asked for")),
            (206, ["Content-Range": "bytes 50-99/120"], .restart("the file at the service has changed")),
            (
                206, ["Content-Range": "bytes 50-99/100", "ETag": "\"b\""],
                .restart("the file at the service has changed")
            ),
            (
                206, ["Content-Type": "multipart/byteranges; boundary=x"],
                .restart("the service sent several ranges where one was asked for")
            ),
            (200, ["Content-Length": "120", "ETag": "\"b\""], .whole(total: 120)),
            (416, ["Content-Range": "bytes */50"], .restart("the service has 50 bytes, and had announced 100")),
            (416, ["Content-Range": "bytes */50", "ETag": "\"a\""], .nothingMore),
            (
                416, ["Content-Range": "bytes */50", "ETag": "\"b\""],
                .restart("the file at the service has changed")
            ),
            (416, ["Content-Range": "bytes */40"], .restart("the service has fewer bytes than are here")),
            (416, [:], .restart("the service refuses the rest with 416")),
            (
                206, ["Content-Range": "bytes 50-99/100", "Content-Length": "60"],
                .restart("the service sent another range than it said")
            ),
            (206, ["Content-Range": "bytes 50-119/*"], .restart("the file at the service has changed")),
            (200, ["Content-Length": "120", "Transfer-Encoding": "chunked", "ETag": "\"b\""], .whole(total: nil)),
            (200, ["Content-Length": "-1", "ETag": "\"a\""], .whole(total: nil)),
            (200, ["Content-Length": "100"], .whole(total: 100)),
            (200, ["Content-Length": "120"], .unrelated), (200, [:], .unrelated),
            (
                200, ["Content-Length": "50", "Content-Range": "bytes 50-99/100"],
                .restart("the service sent a part as if it were the whole")
            ),
            (
                206, ["Content-Range": "bytes 50-99/100", "Content-Encoding": "gzip"],
                .restart("the service has coded this part in another way")
            ),
            (
                206, ["Content-Range": "bytes 50-99/100"],
                .restart("the service does not say of which version of the file the part is")
            ),
            (
                206, ["Content-Range": "bytes 50-99/100", "ETag": "\"a\"", "Content-Encoding": "identity"],
                .rest(end: 100, total: 100)
            ),
            (412, [:], .restart("the file at the service has changed")), (404, [:], .answer), (202, [:], .answer),
        ] as [(Int, [String: String], DownloadSession.Verdict)])
    func verdicts(status: Int, fields: [String: String], verdict: DownloadSession.Verdict) {
        let session = DownloadSession(held: 50, validator: .entityTag("\"a\""), total: 100)
        var headers = HTTPFields()
        for (name, value) in fields { headers[HTTPField.Name(name)!] = value }
        #expect(session.verdict(on: HTTPResponse(status: .init(code: status), headerFields: headers)) == verdict)
        #expect(session.fields[.range] == "bytes=50-")
        #expect(session.fields[.ifRange] == "\"a\"")
    }

    @Test("a part that names no version is taken where a final digest or a date is known")
    func unnamedPart() {
        let head = HTTPResponse(status: .partialContent, headerFields: [.contentRange: "bytes 50-99/100"])
        for session in [
            DownloadSession(held: 50, validator: .entityTag("\"a\""), total: 100, hasFinalDigest: true),
            DownloadSession(held: 50, validator: .modified("Fri, 20 Nov 2026 12:00:00 GMT"), total: 100),
        ] {
            #expect(session.verdict(on: head) == .rest(end: 100, total: 100))
        }
    }

    @Test(
        "what the first bytes of a file are worth",
        arguments: [
            (["Content-Range": "bytes 0-9/100", "ETag": "\"a\""], true),
            (["Content-Range": "bytes 0-9/100", "ETag": "\"a\"", "Content-Length": "12"], false),
            (["Content-Range": "bytes 0-9/*", "ETag": "\"a\""], false),
            (["Content-Range": "bytes 0-9/100"], false),
            (["Content-Range": "bytes 0-9/100", "x-goog-hash": "crc32c=4waSgw=="], false),
            (["Content-Range": "bytes 0-9/100", "x-goog-hash": "md5=1B2M2Y8AsgTpgAmY7PhCfg=="], true),
        ] as [([String: String], Bool)])
    func starts(fields: [String: String], isUseful: Bool) {
        var headers = HTTPFields()
        for (name, value) in fields { headers[HTTPField.Name(name)!] = value }
        let verdict = DownloadSession(limit: 10).verdict(
            on: HTTPResponse(status: .partialContent, headerFields: headers))
        if case .restart = verdict {
            #expect(!isUseful)
        } else {
            #expect(isUseful && verdict == .rest(end: 10, total: 100))
        }
    }

    @Test("nothing is missing of a file whose length nobody has said once the service has no more")
    func nothingMore() {
        let session = DownloadSession(held: 50, validator: .entityTag("\"a\""))
        let head = HTTPResponse(status: .rangeNotSatisfiable, headerFields: [.contentRange: "bytes */50"])
        #expect(session.verdict(on: head) == .nothingMore)
    }

    @Test("no range is asked for without a validator, nor with a method that has none")
    func noRanges() {
        #expect(DownloadSession(held: 50).fields[.range] == nil)
        #expect(DownloadSession(held: 50, validator: .entityTag("\"a\""), allowsRanges: false).fields[.range] == nil)
        #expect(DownloadSession(held: 50, hasFinalDigest: true).fields[.range] == "bytes=50-")
        #expect(DownloadSession().verdict(on: HTTPResponse(status: .partialContent)) == .answer)
    }
}
