import Foundation
import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import Testing

@testable import PipelineStages

/// Everything that reads what others wrote, on mutations of sound inputs: no crash and no hang. Half a second each;
/// `make fuzz` takes longer.
@Suite("Fuzzing", .serialized) struct FuzzTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func files(_ folder: String, _ isWanted: (String) -> Bool) -> [[UInt8]] {
        let base = root.appending(path: folder)
        let names = (FileManager.default.enumerator(atPath: base.path)?.allObjects as? [String] ?? []).filter(isWanted)
        return names.sorted().compactMap { try? Array(Data(contentsOf: base.appending(path: $0))) }
    }

    private static let documents =
        files("Pipelines") { $0.hasSuffix(".json") && !$0.hasSuffix(".schema.json") }
        + files("Tests/PipelineCoreTests/Invalid") { $0.hasSuffix("pipeline.json") }

    @Test("documents are read to their end, and each mistake has its place and frame")
    func reader() {
        let kinds = StageBench.kinds(ScriptedService().network)
        let catalogue = Catalogue(kinds: kinds) { DecoratorCatalogue.standard.check($0, findings: $1) }
        let slow = FuzzRun.slow("documents", Self.documents) { bytes in
            let source = SourceText(name: "fuzz", bytes: bytes)
            do throws(DefinitionError) {
                _ = try Planner(catalogue: catalogue).plan(source)
            } catch {
                #expect(!error.diagnostics.isEmpty)
                for diagnostic in error.diagnostics where diagnostic.range.end > bytes.count + 1 {
                    Issue.record("\(diagnostic) is not in the document")
                }
                _ = error.report
            }
        }
        #expect(slow.isEmpty, "\(slow)")
    }

    @Test("queries are refused or evaluated")
    func queries() throws {
        let corpus = [
            "$.a[0:2:1]..b[?@.c=='x' && (@.d<1.5||!@.e)].f", "$..[?match(@.a,'[a-z]+\\\\.')][*,-1,\"n\"]",
            "$[?length(@.a)>=count($..*) || value(@.b)!=null]['x','y'][::-2]", "$..*..*..*",
            "$[?search(@.a,'(x|y)*z')]",
        ].map { Array($0.utf8) }
        let document = try JSON.parse(
            #"{"a":[{"b":[{"c":"x","f":1}]},2],"b":{"a":"ab.","n":[1,2,3]},"x":null,"e":true,"l":"xyxyxyxyxyxyxyxyxy"}"#
        )
        let slow = FuzzRun.slow("JSONPath", corpus) { bytes in
            guard let query = try? JSONPathQuery(String(decoding: bytes, as: UTF8.self)) else { return }
            _ = try? query.nodes(in: document)
        }
        #expect(slow.isEmpty, "\(slow)")
    }

    @Test("expressions and templates are refused or evaluated")
    func expressions() {
        let corpus = [
            "inputs.list[index] ?? 'a' + stages.upload.id", "len(split(inputs.video, '/')) > 2 && !(1 == 200)",
            "a ${{ urlencode(base64('x')) }} b$${{ ${{ replace('aaa', 'a', 'aa') }}",
            "parse('{\"a\":[1,2]}').a[-1] == null", "join(split('a,b', ','), ', ') + lower('ABC')",
        ].map { Array($0.utf8) }
        let scope = Scope(inputs: ["list": ["a", 1], "video": "/a/b.c"], index: 0)
        let slow = FuzzRun.slow("expressions", corpus) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let range = SourceRange(start: 0, end: text.utf8.count)
            if let expression = try? Expression.parse(text, in: range) { _ = try? expression.evaluate(in: scope) }
            if let template = try? Template.parse(text, in: range) {
                _ = try? template.evaluate(in: scope)
                _ = template.describe(in: scope)
            }
        }
        #expect(slow.isEmpty, "\(slow)")
    }

    @Test("selectors are refused or find something")
    func selectors() {
        let corpus = [
            "$.files[?@.url == '/c'].url[]", "/a~1b/~0", "header:Location?", "regex:(\\d+)%", "xml:/A/B",
            "$items[*].url",
        ].map { Array($0.utf8) }
        let answer = ServiceResponse(
            status: 200, headers: [("Location", "/x")], url: "http://h/a",
            body: Array(#"{"files":[{"url":"/c"}],"t":"45% <A><B>1</B></A>"}"#.utf8))
        let slow = FuzzRun.slow("selectors", corpus) { bytes in
            guard let selector = try? Selector.parse(String(decoding: bytes, as: UTF8.self)) else { return }
            _ = selector.lenientValue(in: answer)
        }
        #expect(slow.isEmpty, "\(slow)")
    }

    @Test("bodies of servers are read or refused")
    func bodies() throws {
        let corpus = [
            #"{"a":[1,-2.5e3,true,null,"x\u00e9\n😀"],"b":{"c":{},"a":""}}"#,
            "<?xml version=\"1.0\"?><A x='1'><B>&amp;t</B><!-- c --><B><![CDATA[d]]></B></A>",
        ].map { Array($0.utf8) }
        let selectors = try ["$..a", "xml:/A/B", "regex:(.*)*b", "text", "/b/c"].map { try Selector.parse($0) }
        let slow = FuzzRun.slow("bodies", corpus) { bytes in
            for selector in selectors {
                _ = selector.lenientValue(in: ServiceResponse(status: 200, url: "http://h", body: bytes))
            }
        }
        #expect(slow.isEmpty, "\(slow)")
    }

    @Test("header fields of servers are read or passed over, and no name of a file leaves its folder")
    func fields() {
        let corpus = [
            #"attachment; filename="a b.txt"; filename*=UTF-8''%e2%82%ac.txt"#, #"inline; filename=x"#,
            #"<https://h/a?b=c>; rel="next", </d>; rel=prev; title="x,y""#, "bytes 0-499/1234",
            "sha-256=:YWJj:, md5=:eA==:",
            "?1", "max-size=1000, min-size=0", "Sun, 06 Nov 1994 08:49:37 GMT", "120", "W/\"x\"",
        ].map { Array($0.utf8) }
        let slow = FuzzRun.slow("fields", corpus) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            _ = LinkHeader.target(of: "next", in: text)
            _ = StructuredField.boolean(text)
            _ = StructuredField.integer(text)
            let name = HTTPField.Name("Content-Disposition")!
            let file = DownloadName.make(headers: [name: text], url: "http://h/\(text)")
            #expect(!file.contains("/") && !file.hasPrefix(".") && !file.isEmpty, "\(text)")
            let response = HTTPExchangeResponse(status: 503, headers: [.retryAfter: text, .date: text])
            _ = response.retryAfter(now: .epoch)
        }
        #expect(slow.isEmpty, "\(slow)")
    }
}
