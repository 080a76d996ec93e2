import ArgumentParser
import CZlib
import Foundation
import Testing

@testable import SelfieStudio

@Suite("Pictures")
struct PictureTests {
    @Test("A PNG that is written is read as the same picture")
    func roundTrip() throws {
        let picture = gradient(width: 7, height: 5)
        #expect(try PNGFile.picture(in: PNGFile.bytes(of: picture)) == picture)
    }

    @Test("A PNG of other programs, with all filters, is read")
    func filters() throws {
        // 3 x 5 pixels, one line with each filter of the standard, made by hand from its section 9.2.
        let rows = 5
        let length = 9
        let wanted = (0..<(rows * length)).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
        var lines: [UInt8] = []
        for row in 0..<rows {
            lines.append(UInt8(row))
            for column in 0..<length {
                let left = column >= 3 ? Int(wanted[row * length + column - 3]) : 0
                let above = row > 0 ? Int(wanted[(row - 1) * length + column]) : 0
                let corner = row > 0 && column >= 3 ? Int(wanted[(row - 1) * length + column - 3]) : 0
                let estimate = left + above - corner
                let nearest = [left, above, corner].min { abs(estimate - $0) < abs(estimate - $1) }!
                let predicted = [0, left, above, (left + above) / 2, nearest][row]
                lines.append(wanted[row * length + column] &- UInt8(predicted))
            }
        }
        var packed = [UInt8](repeating: 0, count: 200)
        var count = uLongf(packed.count)
        #expect(compress(&packed, &count, lines, uLong(lines.count)) == Z_OK)
        let png =
            PNGFile.signature + PNGFile.chunk("IHDR", [0, 0, 0, 3, 0, 0, 0, 5, 8, 2, 0, 0, 0])
            + PNGFile.chunk("tEXt", Array("a\0b".utf8)) + PNGFile.chunk("IDAT", Array(packed.prefix(Int(count))))
            + PNGFile.chunk("IEND", [])
        #expect(try PNGFile.picture(in: png).bytes == wanted)
    }

    @Test("What is no PNG, another kind, or damaged, is refused")
    func refused() throws {
        #expect(throws: PNGFile.Defect.noPNG) { try PNGFile.picture(in: Array("hello".utf8)) }
        let png = PNGFile.bytes(of: gradient(width: 4, height: 4))
        #expect(throws: PNGFile.Defect.damaged) { try PNGFile.picture(in: Array(png.prefix(40))) }
        var changed = png
        changed[50] ^= 1
        #expect(throws: PNGFile.Defect.damaged) { try PNGFile.picture(in: changed) }
        let grey = PNGFile.signature + PNGFile.chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])
        #expect(throws: PNGFile.Defect.unsupported) { try PNGFile.picture(in: grey) }
        let huge = PNGFile.signature + PNGFile.chunk("IHDR", [255, 255, 255, 255, 255, 255, 255, 255, 8, 2, 0, 0, 0])
        #expect(throws: PNGFile.Defect.damaged) { try PNGFile.picture(in: huge) }
    }

    @Test("Half blocks are two pixels a character")
    func halfBlocks() {
        var picture = Picture(width: 1, height: 2)
        picture.set(0, 0, red: 255, green: 128, blue: 0)
        picture.set(0, 1, red: 0, green: 0, blue: 300)
        #expect(
            HalfBlocks(picture: picture, colours: .all).text(columns: 1)
                == "\u{1B}[38;2;255;128;0m\u{1B}[48;2;0;0;255m▀\u{1B}[0m\n")
        #expect(
            HalfBlocks(picture: picture, colours: .palette).text(columns: 1)
                == "\u{1B}[38;5;214m\u{1B}[48;5;21m▀\u{1B}[0m\n")
    }

    @Test("The command draws the preview of a model")
    func draws() async throws {
        try await withStudio { _, client in
            let model = try await client.finishedModel()
            let link = try #require(model.result?.preview)
            let png = try await client.send("GET", link.url)
            let picture = try PNGFile.picture(in: png.body)
            let text = HalfBlocks(picture: picture, colours: .all).text(columns: 30)
            #expect(text.split(separator: "\n").count == 20)
            #expect(text.count(where: { $0 == "▀" }) == 600)
        }
        #expect(try DrawCommand.parse(["a.png"]).columns == 60)
        #expect(throws: (any Error).self) { try DrawCommand.parse(["a.png", "--columns", "0"]) }
    }

    private func gradient(width: Int, height: Int) -> Picture {
        Picture(
            width: width, height: height,
            bytes: (0..<(width * height * 3)).map { UInt8(truncatingIfNeeded: $0 * $0) })
    }
}
