import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import Testing

@testable import PipelineStages

/// Numbers that no honest service sends: they are refused, and none ends the process.
@Suite("Numbers of a service that no file and no clock has")
struct ForeignNumberTests {
    private static let most = Int64.max

    private func answer(_ status: Int, _ fields: [String: String]) -> HTTPExchangeResponse {
        var headers = HTTPFields()
        for (name, value) in fields { headers[HTTPField.Name(name)!] = value }
        return HTTPExchangeResponse(status: status, headers: headers, url: "http://h/files")
    }

    private func isWrong(_ step: UploadStep) -> Bool {
        if case .fail(.wrong) = step { true } else { false }
    }

    @Test("a range whose end has no byte behind it is none", arguments: ["*", "9223372036854775807"])
    func lastByte(total: String) {
        #expect(ContentRange("bytes 5-\(Self.most)/\(total)") == nil)
        #expect(ContentRange("bytes 5-\(Self.most - 1)/*") == .part(first: 5, last: Self.most - 1, total: nil))
        var session = DownloadSession()
        (session.held, session.validator) = (5, .entityTag("\"a\""))
        let head = HTTPResponse(status: 206, headerFields: [.contentRange: "bytes 5-\(Self.most)/\(total)"])
        #expect(session.verdict(on: head) == .restart("the service sent another range than was asked for"))
    }

    @Test("a creation that has more of the file than there is is wrong", arguments: [101, most])
    func creationBeyondEnd(offset: Int64) {
        var tus = TusSession(total: 100, chunk: UploadChunk(part: 10), offer: TusOffer())
        _ = tus.begin()
        let fields = ["Location": "/1", "Tus-Resumable": "1.0.0", "Upload-Offset": "\(offset)"]
        #expect(isWrong(tus.next(after: answer(201, fields))))
        var resumable = ResumableSession(total: 100, version: .v8, isVersionSettled: true)
        _ = resumable.begin()
        let sent = offset == Self.most ? 999_999_999_999_999 : offset
        #expect(isWrong(resumable.next(after: answer(201, ["Location": "/1", "Upload-Offset": "\(sent)"]))))
    }

    @Test("a Google session that has less than nothing is wrong", arguments: ["bytes=0--5", "bytes=0-+5", "bytes=0-"])
    func lessThanNothing(range: String) {
        var session = GoogleSession(total: 100, chunk: UploadChunk(part: 10), isGiven: true, url: "http://h/1")
        _ = session.begin()
        #expect(isWrong(session.next(after: answer(308, ["Range": range]))))
    }

    @Test("a file has as many parts as it has, however large one may be")
    func parts() {
        #expect(PartTable(total: 100, size: Self.most - 1).count == 1)
        #expect(PartTable(total: 0, size: 10).count == 1)
        #expect(PartTable(total: 100, size: 50).count == 2)
        #expect(PartTable(total: 101, size: 50).count == 3)
    }

    @Test("what would be left for more than a hundred years is not believed", arguments: [1e300, 1e308, 9e18])
    func remaining(seconds: Double) throws {
        let words = Estimate.Words(secondsLeft: seconds)
        #expect(Estimate(.unknown, elapsed: 1, words: words) == nil)
        let pace = try PollPace(PollPaceDefinition(), in: Scope())
        for polls in 0..<5 {
            let wait = pace.wait(in: .init(polls: polls, elapsed: 1, words: words))
            #expect(wait > .zero && wait <= .seconds(60), "\(wait)")
        }
    }

    @Test("what is left for long is believed, and waited for by times that clocks hold")
    func longRemaining() throws {
        let words = Estimate.Words(secondsLeft: 3e9)
        let estimate = try #require(Estimate(.unknown, elapsed: 1, words: words))
        #expect((2.9e9...3.1e9).contains(estimate.quantile(0.5)))
        let pace = try PollPace(PollPaceDefinition(), in: Scope())
        #expect(pace.wait(in: .init(polls: 3, elapsed: 1, words: words)) <= .seconds(36_525 * 86_400))
    }
}
