import FoundationEssentials
import FoundationXML
import PipelineCore
import Testing

@testable import PipelinePictures

/// Texts stay texts, and pictures are what XML readers take.
@Suite("Markup and pictures")
struct MarkupTests {
    @Test("what is put into a literal is escaped, for content and for attributes; control characters are seen")
    func escapes() {
        let hostile = "<img src=x onerror='alert(1)'>\"&\u{202E}\u{0}"
        let markup: Markup = "<a title=\"\(hostile)\">\(hostile)</a>"
        let safe = "&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&quot;&amp;\\u{202e}\\u{0}"
        #expect(markup.string == "<a title=\"\(safe)\">\(safe)</a>")
        let nested: Markup = "<p>\(markup)</p>"
        #expect(nested.string == "<p>\(markup.string)</p>", "markup is not escaped again")
        #expect(("\(1.25) \(-0.04) \(Double.nan) \(7)" as Markup).string == "1.3 0 0 7")
        #expect(Markup(text: hostile).string == safe)
    }

    static let pictures: [Picture?] = [
        Timeline([
            .init(name: "up<load>", state: .succeeded, start: 0, end: 12, median: 10),
            .init(name: "model", state: .running, start: 12, end: 60, median: nil),
        ]).picture,
        Histogram(title: "a & b", durations: [1, 2, 2, 3, 40], promised: 5).picture,
        Histogram(title: "one", durations: [0], promised: nil).picture,
        RateChart(
            [ItemEnds(slot: 0, state: .succeeded, count: 3), ItemEnds(slot: 2, state: .failed, count: 1)],
            slot: .seconds(60)
        ).picture,
        BytesChart([exchange], from: .epoch).picture,
    ]

    private static let exchange: ExchangeRecord = {
        var record = ExchangeRecord(
            step: StepKey(stage: "upload"), attempt: 1, started: .epoch + .seconds(1), method: "PUT", url: "http://a/b",
            headers: [], body: RecordedBody(size: 5_000_000, type: nil))
        record.answer = ExchangeRecord.ServiceResponse(
            status: 200, headers: [], body: RecordedBody(size: 10, type: nil),
            timings: .init(nameLookup: 0, connect: 0, tls: 0, sent: 1, firstByte: 1, total: 2))
        return record
    }()

    @Test("each picture is XML, alone and in a file, and has its numbers as a table", arguments: pictures)
    func readable(picture: Picture?) throws {
        let picture = try #require(picture)
        for text in [picture.svg.string, Picture.file([picture, picture])] {
            #expect(XMLParser(data: Data(text.utf8)).parse(), "\(text)")
        }
        #expect(!picture.rows.isEmpty && picture.rows.allSatisfy { $0.count == picture.columns.count })
        #expect(picture.svg.string.contains("class=\"base\"") && picture.svg.string.contains("class=\"mark\""))
    }

    @Test("a histogram shows the median of the durations and what was promised")
    func histogram() throws {
        let picture = try #require(Histogram(title: "t", durations: [10, 20, 30], promised: 25).picture)
        #expect(picture.svg.string.contains("median 20 s") && picture.svg.string.contains("promised p90 25 s"))
        #expect(Histogram(title: "t", durations: [], promised: 3).picture == nil)
    }

    /// Its table had "from 0.0 s to 0.0 s" in each row.
    @Test("the table of a histogram tells its columns apart below a second too")
    func shortDurations() throws {
        let durations = [0.001, 0.003, 0.01, 0.03]
        let picture = try #require(Histogram(title: "t", durations: durations, promised: 0.02).picture)
        let columns = picture.rows.dropLast(2)
        #expect(columns.count > 1 && columns.allSatisfy { $0[0] != $0[1] && $0[1].hasSuffix(" ms") }, "\(columns)")
        #expect(picture.rows.suffix(2) == [["median", "10 ms", ""], ["promised p90", "20 ms", ""]])
    }
}
