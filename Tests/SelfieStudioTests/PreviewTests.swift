import Crypto
import Foundation
import Testing

@testable import SelfieStudio

@Suite("The preview and the page of a model")
struct PreviewTests {
    @Test("The service has the files with the digests and types that it told")
    func served() async throws {
        try await withStudio { server, client in
            let view = try await client.finishedModel()
            let result = try #require(view.result)
            for (link, type) in [(result.preview, "image/png"), (result.page, "text/html; charset=utf-8")] {
                let link = try #require(link)
                let reply = try await client.send("GET", link.url)
                #expect(reply.status == 200)
                #expect(reply.fields["content-type"] == type)
                #expect(reply.body.count == link.bytes)
                #expect(SHA256.hash(data: reply.body).hex == link.sha256)
            }
            // What counts as the result is the mesh.
            #expect(server.counters.results[view.id] == nil)
            #expect(try await client.send("DELETE", "/models/\(view.id)").status == 204)
            #expect(try await client.send("GET", "/models/\(view.id)/preview.png").status == 404)
        }
    }

    @Test("A model of a version that made no previews is told without them")
    func olderRecord() throws {
        let text = """
            {"bodyDigest":"d","id":"m","number":1,"quality":"full","state":"done","video":"v",
             "result":{"bytes":3,"sha256":"abc"}}
            """
        let record = try JSONDecoder().decode(ModelRecord.self, from: Data(text.utf8))
        #expect(record.files == [.mesh: .init(sha256: "abc", bytes: 3)])
    }

    @Test("The picture shows the face in its colours, in front of a dark wall")
    func colours() async throws {
        let picture = try await withFiles { try PNGFile.picture(in: $0.bytes(.preview)) }
        #expect((picture.width, picture.height) == (480, 640))
        let middle = mean(picture, columns: 180..<260, rows: 300..<340)
        #expect(middle.red > 120 && middle.red > middle.green + 15 && middle.green > middle.blue, "skin: \(middle)")
        let shirt = mean(picture, columns: 200..<280, rows: 570..<600)
        #expect(shirt.blue > shirt.red + 40, "a blue shirt: \(shirt)")
        let corner = mean(picture, columns: 0..<40, rows: 0..<40)
        #expect(max(corner.red, corner.green, corner.blue) < 60, "the wall: \(corner)")
    }

    @Test("The page holds the mesh and the portrait, and asks the network for nothing")
    func page() async throws {
        let (page, obj) = try await withFiles { (try $0.text(.page), try $0.text(.mesh)) }
        #expect(page.hasPrefix("<!DOCTYPE html>"))
        for word in ["http:", "https:", "src=", "import ", "fetch(", "@"] { #expect(!page.contains(word), "\(word)") }
        let count = obj.split(separator: "\n").count { $0.hasPrefix("v ") }
        #expect(page.contains("<p>\(count) vertices"))
        let packed = try #require(page.firstMatch(of: /const vertices = bytes\("([^"]*)"\)/))
        #expect(Data(base64Encoded: String(packed.output.1))?.count == 16 * count)
        let portrait = try #require(page.firstMatch(of: /image\/png;base64,([^"]*)"/))
        let picture = try PNGFile.picture(in: Array(try #require(Data(base64Encoded: String(portrait.output.1)))))
        #expect((picture.width, picture.height) == (120, 160))
    }

    @Test("Vertices have the colours of their places in the portrait, and the places fit")
    func texture() async throws {
        let obj = try await withFiles { try $0.text(.mesh) }
        let lines = obj.split(separator: "\n").map { $0.split(separator: " ") }
        let vertices = lines.filter { $0[0] == "v" }.map { $0.dropFirst().compactMap { Double($0) } }
        let places = lines.filter { $0[0] == "vt" }.map { $0.dropFirst().compactMap { Double($0) } }
        #expect(vertices.allSatisfy { $0.count == 6 && $0[3...].allSatisfy { (0...1).contains($0) } })
        for (vertex, place) in zip(vertices, places) {
            #expect(abs(vertex[0] - (place[0] - 0.5) * 2 * 120 / 160) < 0.0001)
            #expect(abs(vertex[1] - (place[1] - 0.5) * 2) < 0.0001)
        }
        let lips = vertices.filter { abs($0[0]) < 0.05 && abs($0[1] + 0.215) < 0.02 }
        let cheek = vertices.filter { abs($0[0] + 0.2) < 0.05 && abs($0[1] + 0.05) < 0.02 }
        try #require(!lips.isEmpty && !cheek.isEmpty)
        func green(_ vertices: [[Double]]) -> Double { vertices.reduce(0) { $0 + $1[4] } / Double(vertices.count) }
        #expect(green(lips) < green(cheek) - 0.1)
    }

    private struct Files {
        var folder: String

        func bytes(_ file: ModelFile) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: "\(folder)/\(file.rawValue)")))
        }

        func text(_ file: ModelFile) throws -> String { String(decoding: try bytes(file), as: UTF8.self) }
    }

    private func withFiles<Result>(_ body: (Files) throws -> Result) async throws -> Result {
        try await withFolder { folder in
            _ = try await Sculptor().sculpt(
                video: Selfie.path, quality: .full, path: { "\(folder)/\($0.rawValue)" }
            ) { _ in }
            return try body(Files(folder: folder))
        }
    }

    private func mean(
        _ picture: Picture, columns: Range<Int>, rows: Range<Int>
    ) -> (red: Int, green: Int, blue: Int) {
        var sums = [0, 0, 0]
        for row in rows {
            for column in columns {
                for part in 0..<3 { sums[part] += Int(picture.bytes[(row * picture.width + column) * 3 + part]) }
            }
        }
        let count = columns.count * rows.count
        return (sums[0] / count, sums[1] / count, sums[2] / count)
    }
}
