import FoundationEssentials
import PipelineHTTP
import Testing

@Suite("A walk over pages")
struct PageWalkTests {
    private let here = "https://api.test/v1/items?limit=2"
    private let origin = "https://api.test:443"

    private func walk(
        _ rule: PageRule, _ pages: [PageFacts], limit: Int? = nil
    ) throws(PagingFailure) -> (PageWalk, [PageWalk.Position]) {
        var walk = PageWalk()
        var positions: [PageWalk.Position] = []
        for page in pages {
            positions.append(walk.position)
            try walk.advance(after: page, by: rule, limit: limit, origin: origin)
            if walk.isFinished { break }
        }
        return (walk, positions)
    }

    private func page(_ count: Int? = 2, next: String? = nil, hasMore: Bool = true, content: String? = nil) -> PageFacts
    {
        PageFacts(
            url: here, itemCount: count, next: next, hasMore: hasMore, content: content.map { PageFingerprint($0.utf8) }
        )
    }

    @Test("counts pages and items, from the first number on, to an empty page")
    func counted() throws {
        let pages = [page(content: "a"), page(content: "b"), page(0, content: "")]
        let byPage = try walk(.page(PageParameter("page"), first: 0), pages)
        #expect(byPage.1 == [.first, .number(1), .number(2)])
        #expect(byPage.0.isFinished && byPage.0.items == 4 && byPage.0.pages == 3)
        let byOffset = try walk(.offset(PageParameter("offset")), pages)
        #expect(byOffset.1 == [.first, .number(2), .number(4)])
    }

    @Test("ends at an absent or empty cursor, at a page that says so, at an empty page, and at the limit")
    func ends() throws {
        let rule = PageRule.cursor(PageParameter("after"))
        #expect(try walk(rule, [page(next: "c1"), page(next: nil)]).1 == [.first, .cursor("c1")])
        #expect(try walk(rule, [page(next: "")]).0.isFinished)
        #expect(try walk(rule, [page(next: "c1", hasMore: false)]).0.isFinished)
        #expect(try walk(rule, [page(0, next: "c1")]).0.isFinished)
        let cut = try walk(rule, [page(next: "c1"), page(next: "c2")], limit: 2).0
        #expect(cut.isFinished && cut.isCutOff)
        let whole = try walk(rule, [page(next: "c1"), page()], limit: 2).0
        #expect(whole.isFinished && !whole.isCutOff)
    }

    @Test(
        "resolves the next URL against the page's own",
        arguments: [
            ("/v1/items?p=2", "https://api.test/v1/items?p=2"), ("?p=2", "https://api.test/v1/items?p=2"),
            ("https://API.test:443/x", "https://API.test:443/x"), ("p/2#top", "https://api.test/v1/p/2"),
        ])
    func urls(next: String, expected: String) throws {
        let (walk, _) = try walk(.url, [page(next: next)])
        guard case .url(let url) = walk.position else {
            Issue.record("no URL")
            return
        }
        #expect(url.lowercased().replacing(":443", with: "") == expected.lowercased().replacing(":443", with: ""))
    }

    @Test("refuses another origin, another scheme, and what is no URL")
    func origins() {
        #expect(throws: PagingFailure.otherOrigin("https://evil.test/items")) {
            try walk(.url, [page(next: "https://evil.test/items")])
        }
        #expect(throws: PagingFailure.otherOrigin("http://api.test/v1/items")) {
            try walk(.url, [page(next: "http://api.test/v1/items")])
        }
        #expect(throws: PagingFailure.notURL("ftp://api.test/x")) { try walk(.url, [page(next: "ftp://api.test/x")]) }
    }

    @Test("a URL or cursor that came before is an error, and so is a page that does not change")
    func circles() {
        #expect(throws: PagingFailure.repeated(here)) { try walk(.url, [page(next: here)]) }
        let rule = PageRule.cursor(PageParameter("c"))
        #expect(throws: PagingFailure.repeated("a")) {
            try walk(rule, [page(next: "a"), page(next: "b"), page(next: "a")])
        }
        let equal = [PageFacts](repeating: page(content: "x"), count: 10)
        #expect(throws: PagingFailure.samePages(count: 10)) { try walk(.page(PageParameter("p"), first: 1), equal) }
        #expect(throws: PagingFailure.samePages(count: 3)) {
            try walk(.offset(PageParameter("o")), equal, limit: 3)
        }
        #expect(throws: Never.self) { try walk(.offset(PageParameter("o")), equal, limit: 1) }
        #expect(throws: Never.self) {
            try walk(.offset(PageParameter("o")), [page(content: "y")] + equal, limit: 3)
        }
        #expect(throws: Never.self) {
            try walk(.page(PageParameter("p"), first: 1), equal.dropLast() + [page(content: "y")] + equal.dropLast())
        }
    }

    @Test("a circle of thousands of pages is noticed in constant memory", arguments: [1, 64, 65, 3000])
    func longCircle(length: Int) throws {
        var walk = PageWalk()
        var largest = 0
        var steps = 0
        #expect(throws: PagingFailure.self) {
            while steps < 20_000 {
                let cursor = "c\(steps < 500 ? steps : 500 + (steps - 500) % length)"
                try walk.advance(
                    after: page(next: cursor), by: .cursor(PageParameter("c")), origin: origin)
                steps += 1
                if steps % 997 == 0 { largest = max(largest, try JSONEncoder().encode(walk).count) }
            }
        }
        #expect(steps <= 500 + 4 * (500 + length))
        #expect(largest < 3000)
    }

    @Test("goes on from what was kept of it")
    func kept() throws {
        var walk = try walk(.cursor(PageParameter("c")), [page(next: "a"), page(next: "b")]).0
        let copy = try JSONDecoder().decode(PageWalk.self, from: try JSONEncoder().encode(walk))
        #expect(copy == walk)
        #expect(throws: PagingFailure.repeated("a")) {
            try walk.advance(after: page(next: "a"), by: .cursor(PageParameter("c")), origin: origin)
        }
    }

    @Test(
        "finds a link among others, quoted or not, with commas and brackets in quotes",
        arguments: [
            (#"<https://h/2>; rel="next""#, "https://h/2"), ("<2>;rel=next", "2"),
            (#"<p>; rel="prev", <n>; rel="next""#, "n"), (#"<n>; title="a, <b>; rel=x"; rel="last next""#, "n"),
            (#"<n>; REL = "NEXT""#, "n"), (#"nonsense, <n>; rel=next"#, "n"), (#"<a?x=1,2;3>; rel=next"#, "a?x=1,2;3"),
            (#"<a>; title="\"; rel=next"; rel=prev"#, nil), (#"<a>; rel=next; anchor="/x""#, nil), ("", nil),
            ("<a", nil), (#"<a>; rel=prev; rel=next"#, nil), (#"<é>; rel=next"#, "é"),
        ] as [(String, String?)])
    func links(header: String, expected: String?) {
        #expect(LinkHeader.target(of: "next", in: header) == expected)
    }
}
