import JSONPath
import Testing

/// What goes beyond the examples of the RFC: errors, roots, singularity, budgets, depth.
struct JSONPathQueryTests {
    @Test(
        "errors point at the place and say how to mend it",
        arguments: [
            ("", 0, "a query begins with $"), ("a.b", 0, "a query begins with $"),
            ("$.", 2, "names with other characters"),
            ("$.first-name", 7, "['first-name']"), ("$[name]", 2, "names need quotes"),
            ("$[01]", 2, "write 0, 1 or -1"),
            ("$[?@.a = 1]", 7, "write =="), ("$[?@.a =~ /x/]", 7, "match(@.name"), ("$[?@.a & @.b]", 7, "written &&"),
            ("$[?@.a == x]", 10, "text needs quotes"), ("$[?@.a == True]", 10, "write true"),
            ("$[?@.* == 1]", 3, "value(…)"),
            ("$[?'a']", 3, "compare it"), ("$[?!@.a == 1]", 8, "write !("), ("$[?(@.a) == 1]", 9, "compare the values"),
            ("$[?foo(@)]", 3, "length, count, value, match and search"), ("$[?count(@.a, 1) == 1]", 3, ""),
            ("$[9007199254740992]", 2, "RFC 9535"), ("$['a\\x']", 4, "written \\\\"),
            ("$['\\ud800']", 3, "two escapes"),
            ("$[1", 1, ""), ("$.a ", 3, ""), ("$.a$", 3, ""), ("$[?count (@.*) == 1]", 3, ""), ("$.\u{E9} x", 4, ""),
        ])
    func errors(query: String, offset: Int, hint: String) {
        let error = #expect(throws: JSONPathError.self, "\(query)") { try JSONPathQuery(query) }
        #expect(error?.offset == offset, "\(query)")
        #expect(hint.isEmpty || error?.hint?.contains(hint) == true, "\(query): \(error?.hint ?? "")")
    }

    @Test("a root can be spelt in another way, in filters too")
    func namedRoot() throws {
        let items = try JSON.parse(#"[{"url":"a","n":1},{"url":"b","n":2}]"#)
        #expect(try JSONPathQuery(parsing: "$items[*].url", root: "$items").nodes(in: items) == ["a", "b"])
        let query = try JSONPathQuery(parsing: "$items[?@.n == $items[1].n].url", root: "$items")
        #expect(try query.nodes(in: items) == ["b"])
        for text in ["$[*]", "$itemsx", "$items[?$.x]", "$item"] {
            #expect(throws: JSONPathError.self) { try JSONPathQuery(parsing: text, root: "$items") }
        }
        #expect(throws: JSONPathError.self) { try JSONPathQuery("$items[*]") }
    }

    @Test(
        "singular queries are names and single indices only",
        arguments: [
            ("$", true), ("$.a[0]['b'][-1]", true), ("$..a", false), ("$.*", false), ("$[0,1]", false),
            ("$[0:1]", false),
            ("$[?@.a]", false),
        ])
    func singular(query: String, isSingular: Bool) throws {
        #expect(try JSONPathQuery(query).isSingular == isSingular)
    }

    @Test("a pattern that is no I-Regexp matches nothing and is warned of")
    func warnings() throws {
        let query = try JSONPathQuery(#"$[?match(@, '\\d+')]"#)
        #expect(try query.nodes(in: ["12"]).isEmpty)
        #expect(query.warnings.map(\.offset) == [12])
        #expect(try JSONPathQuery("$[?match(@, '[0-9]+')]").warnings.isEmpty)
    }

    @Test("numbers compare exactly, strings scalar by scalar")
    func comparisons() throws {
        let document = try JSON.parse(#"[9007199254740993, 9007199254740992.0, 1e2, "\u00e9", "e\u0301"]"#)
        #expect(try JSONPathQuery("$[?@ == 9007199254740993]").nodes(in: document).count == 1)
        #expect(try JSONPathQuery("$[?@ == 100]").nodes(in: document).count == 1)
        #expect(try JSONPathQuery("$[?@ == 'é']").nodes(in: document).count == 1)
        #expect(try JSONPathQuery("$[?@ > 'e']").nodes(in: document).count == 2)
    }

    @Test("a limit ends the search: no more is looked for")
    func limit() throws {
        let document = JSON.array((0..<100_000).map { JSON.number(JSONNumber($0)) })
        #expect(try JSONPathQuery("$[*]").nodes(in: document, limit: 2, budget: 100) == [0, 1])
        #expect(try JSONPathQuery("$[?@ >= 3]").nodes(in: document, limit: 1, budget: 100) == [3])
        #expect(try JSONPathQuery("$[*]").nodes(in: document, limit: 0).isEmpty)
    }

    @Test("leaves that a descent passes over are counted, too")
    func leaves() {
        let document = JSON.array([.array(Array(repeating: 1, count: 100_000))])
        #expect(throws: JSONPathEvaluationError.self) {
            try JSONPathQuery("$..name").nodes(in: document, budget: 1_000)
        }
    }

    @Test(
        "what would take forever ends in an error",
        arguments: [
            "$..*..*..*..*", "$..[?$..[?$..[?$==$]]]", "$[?$[?$[?$[?@.x]]]]", "$..[?count($..*..*) == 0]",
            "$[?search(@.s, '((a?){30}){30}x')]", "$[?match($[0].s, value($[0].pattern))]",
            "$[*,*,*,*][*,*,*,*]..*", "$[?$[0].s <= $[1].s && $[?$[?@.y]]]",
        ])
    func budgets(query: String) throws {
        var element = JSONObject([
            ("s", JSON.string(String(repeating: "a", count: 3_000))), ("pattern", "(a|a|[^b])*b"),
        ])
        element["n"] = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
        let document = JSON.array(Array(repeating: JSON.object(element), count: 2_000))
        let error = #expect(throws: JSONPathEvaluationError.self, "\(query)") {
            try JSONPathQuery(query).nodes(in: document, budget: 1_000_000)
        }
        #expect(error == .evaluationTooLarge(budget: 1_000_000))
    }

    @Test("deep documents and deeply nested queries neither overflow nor hang")
    func depth() throws {
        let text = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        let document = try JSON.parse(text)
        #expect(try JSONPathQuery("$..*").nodes(in: document).count == 511)
        #expect(try JSONPathQuery("$" + String(repeating: "[0]", count: 100_000)).nodes(in: document).isEmpty)
        #expect(
            try JSONPathQuery("$" + String(repeating: "..[0]", count: 511)).nodes(in: document, limit: 1).count == 1)
        let nested = String(repeating: "[?@", count: 60) + String(repeating: "]", count: 60)
        #expect(try JSONPathQuery("$" + nested).nodes(in: document).count == 1)
        for opening in ["[?@", "[?(", "[?length(", "[?!("] {
            let deep =
                "$" + opening + String(repeating: String(opening.dropFirst(opening == "[?@" ? 0 : 2)), count: 100_000)
            #expect(throws: JSONPathError.self) { try JSONPathQuery(deep) }
        }
    }

    @Test("functions give what section 2.4 says")
    func functions() throws {
        let document = try JSON.parse(#"[{"a":"é😀"},{"a":[1,2]},{"a":{"x":1,"y":2}},{"a":2},{"b":[1,2]}]"#)
        func count(_ query: String) throws -> Int { try JSONPathQuery(query).nodes(in: document).count }
        #expect(try count("$[?length(@.a) == 2]") == 3)
        #expect(try count("$[?length(@.a) == length(@.zzz)]") == 2)
        #expect(try count("$[?count(@..*) == 3]") == 3)
        #expect(try count("$[?value(@.*) == 2]") == 1)
        #expect(try count("$[?value(@.a[*]) == value(@.zzz)]") == 5)
        #expect(try count("$[?search(@.a, '😀')]") == 1)
        #expect(try count("$[?match(@.a, '..')]") == 1)
        #expect(try count("$[?match(@.a, '.')]") == 0)
    }
}
