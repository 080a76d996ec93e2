import Foundation
import Testing

@testable import SelfieStudio

@Suite("The mesh made from a video")
struct ReliefTests {
    @Test("It is a valid OBJ with depth", arguments: ModelQuality.allCases)
    func isValid(quality: ModelQuality) async throws {
        let mesh = try await sculpt(quality)
        #expect(mesh.vertices.count > (quality == .full ? 4000 : 1000))
        #expect(mesh.textures == mesh.vertices.count)
        #expect(mesh.normals.count == mesh.vertices.count)
        #expect(mesh.faces.count > mesh.vertices.count)
        #expect(mesh.faces.allSatisfy { $0.count == 3 && $0.allSatisfy { (1...mesh.vertices.count).contains($0) } })
        #expect(mesh.faces.allSatisfy { Set($0).count == 3 })
        let heights = mesh.vertices.map { $0[2] }
        #expect(heights.max()! - heights.min()! > 0.4)
        #expect(mesh.normals.allSatisfy { abs($0.reduce(0) { $0 + $1 * $1 } - 1) < 0.001 && $0[2] > 0 })
    }

    @Test("Triangles are counter-clockwise for who looks at the face")
    func orientation() async throws {
        let mesh = try await sculpt(.draft)
        let areas = mesh.faces.map { face in
            let (a, b, c) = (mesh.vertices[face[0] - 1], mesh.vertices[face[1] - 1], mesh.vertices[face[2] - 1])
            return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        }
        #expect(areas.allSatisfy { $0 > 0 })
    }

    @Test("The head is nearer in its middle than at its edge")
    func isDomed() async throws {
        let mesh = try await sculpt(.full)
        let middle = mesh.vertices.filter { abs($0[0]) < 0.1 && abs($0[1]) < 0.1 }.map { $0[2] }
        let edge = mesh.vertices.filter { $0[1] > 0.55 && $0[2] < 0.2 }.map { $0[2] }
        try #require(!middle.isEmpty && !edge.isEmpty)
        #expect(middle.min()! > 2 * edge.reduce(0, +) / Double(edge.count))
    }

    @Test("A draft has about a quarter of the points")
    func draftIsCoarser() async throws {
        let draft = try await sculpt(.draft).vertices.count
        let full = try await sculpt(.full).vertices.count
        #expect((full / 5...full / 3).contains(draft))
    }

    @Test("The same video gives the same bytes, and the digest is theirs")
    func isDeterministic() async throws {
        try await withFolder { folder in
            let targets = ["\(folder)/a", "\(folder)/b"]
            var results: [[ModelFile: Sculptor.WrittenFile]] = []
            for target in targets {
                results.append(
                    try await Sculptor().sculpt(video: Selfie.path, quality: .full, path: { target + $0.suffix }) { _ in
                    }
                )
            }
            #expect(results[0] == results[1])
            for file in ModelFile.allCases {
                let files = try targets.map { try Data(contentsOf: URL(filePath: $0 + file.suffix)) }
                #expect(files[0] == files[1])
                #expect(results[0][file]?.bytes == files[0].count)
            }
        }
    }

    @Test("Progress goes up, in many steps, to all of it")
    func progress() async throws {
        try await withFolder { folder in
            var shares: [Double] = []
            _ = try await Sculptor().sculpt(video: Selfie.path, quality: .draft, path: { folder + "/a" + $0.suffix }) {
                shares.append($0)
            }
            #expect(shares.count > 40)
            #expect(shares == shares.sorted())
            #expect(shares.last == 1)
        }
    }

    private struct Mesh {
        var vertices: [[Double]] = []
        var textures = 0
        var normals: [[Double]] = []
        var faces: [[Int]] = []
    }

    private func sculpt(_ quality: ModelQuality) async throws -> Mesh {
        try await withFolder { folder in
            _ = try await Sculptor().sculpt(
                video: Selfie.path, quality: quality, path: { "\(folder)/a\($0.suffix)" }
            ) { _ in }
            return try parse(String(contentsOf: URL(filePath: "\(folder)/a.obj"), encoding: .utf8))
        }
    }

    private func parse(_ text: String) throws -> Mesh {
        var mesh = Mesh()
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            switch words[0] {
            case "v": mesh.vertices.append(words.dropFirst().compactMap { Double($0) })
            case "vt": mesh.textures += 1
            case "vn": mesh.normals.append(words.dropFirst().compactMap { Double($0) })
            case "f":
                let corners = words.dropFirst().map { $0.split(separator: "/").compactMap { Int($0) } }
                #expect(corners.allSatisfy { $0.count == 3 && Set($0).count == 1 })
                mesh.faces.append(corners.compactMap(\.first))
            case "#", "o": break
            default: Issue.record("unexpected line: \(line)")
            }
        }
        #expect(mesh.vertices.allSatisfy { $0.count == 6 })
        return mesh
    }
}
