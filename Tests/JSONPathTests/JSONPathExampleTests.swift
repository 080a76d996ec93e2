import JSONPath
import Testing

/// The examples of RFC 9535, table by table.
struct JSONPathExampleTests {
    private func check(_ query: String, on document: String, gives expected: [String]) throws {
        let nodes = try JSONPathQuery(query).nodes(in: try JSON.parse(document))
        #expect(nodes == (try expected.map { try JSON.parse($0) }), "\(query)")
    }

    private let store = #"""
        { "store": { "book": [
            { "category": "reference", "author": "Nigel Rees", "title": "Sayings of the Century", "price": 8.95 },
            { "category": "fiction", "author": "Evelyn Waugh", "title": "Sword of Honour", "price": 12.99 },
            { "category": "fiction", "author": "Herman Melville", "title": "Moby Dick", "isbn": "0-553-21311-3",
              "price": 8.99 },
            { "category": "fiction", "author": "J. R. R. Tolkien", "title": "The Lord of the Rings",
              "isbn": "0-395-19395-8", "price": 22.99 } ],
          "bicycle": { "color": "red", "price": 399 } } }
        """#

    @Test(
        "section 1.5, table 2: the book store",
        arguments: [
            ("$.store.book[*].author", ["[0]['author']", "[1]['author']", "[2]['author']", "[3]['author']"]),
            ("$..author", ["[0]['author']", "[1]['author']", "[2]['author']", "[3]['author']"]),
            ("$..book[2]", ["[2]"]), ("$..book[2].author", ["[2]['author']"]), ("$..book[2].publisher", []),
            ("$..book[-1]", ["[3]"]), ("$..book[0,1]", ["[0]", "[1]"]), ("$..book[:2]", ["[0]", "[1]"]),
            ("$..book[?@.isbn]", ["[2]", "[3]"]), ("$..book[?@.price<10]", ["[0]", "[2]"]),
        ])
    func bookStore(query: String, places: [String]) throws {
        let nodes = try JSONPathQuery(query).locatedNodes(in: try JSON.parse(store))
        #expect(nodes.map(\.path.description) == places.map { "$['store']['book']" + $0 })
    }

    @Test("section 1.5, table 2: everything in the store")
    func wholeStore() throws {
        let document = try JSON.parse(store)
        #expect(try JSONPathQuery("$.store.*").nodes(in: document).count == 2)
        #expect(try JSONPathQuery("$.store..price").nodes(in: document) == [8.95, 12.99, 8.99, 22.99, 399])
        #expect(try JSONPathQuery("$..*").nodes(in: document).count == 27)
    }

    @Test(
        "section 2.3.1.3: names",
        arguments: [
            (#"$.o['j j']"#, #"{"k.k":3}"#), (#"$.o['j j']['k.k']"#, "3"), (#"$.o["j j"]["k.k"]"#, "3"),
            (#"$["'"]["@"]"#, "2"),
        ])
    func names(query: String, result: String) throws {
        try check(query, on: #"{"o": {"j j": {"k.k": 3}}, "'": {"@": 2}}"#, gives: [result])
    }

    @Test(
        "section 2.3.2.3: wildcards",
        arguments: [
            ("$[*]", [#"{"j":1,"k":2}"#, "[5,3]"]), ("$.o[*]", ["1", "2"]), ("$.o[*, *]", ["1", "2", "1", "2"]),
            ("$.a[*]", ["5", "3"]),
        ])
    func wildcards(query: String, results: [String]) throws {
        try check(query, on: #"{"o": {"j": 1, "k": 2}, "a": [5, 3]}"#, gives: results)
    }

    @Test(
        "sections 2.3.3.3, 2.3.4.3 and 2.5.1.3: indices, slices, segments",
        arguments: [
            ("$[1]", "b"), ("$[-2]", "f"), ("$[7]", ""), ("$[-8]", ""), ("$[1:3]", "bc"), ("$[5:]", "fg"),
            ("$[1:5:2]", "bd"), ("$[5:1:-2]", "fd"), ("$[::-1]", "gfedcba"), ("$[::0]", ""), ("$[-3:-1]", "ef"),
            ("$[0, 3]", "ad"), ("$[0:2, 5]", "abf"), ("$[0, 0]", "aa"), ("$[ 1 : 5 : 2 ]", "bd"),
            ("$[-100:100:3]", "adg"),
            ("$[100:-100:-3]", "gda"), ("$[:]", "abcdefg"), ("$[2:2]", ""),
        ])
    func arrays(query: String, letters: String) throws {
        try check(query, on: #"["a","b","c","d","e","f","g"]"#, gives: letters.map { "\"\($0)\"" })
    }

    @Test(
        "section 2.3.5.3, table 11: comparisons",
        arguments: [
            ("$.absent1 == $.absent2", true), ("$.absent1 <= $.absent2", true), ("$.absent == 'g'", false),
            ("$.absent1 != $.absent2", false), ("$.absent != 'g'", true), ("1 <= 2", true), ("1 > 2", false),
            ("13 == '13'", false), ("'a' <= 'b'", true), ("'a' > 'b'", false), ("$.obj == $.arr", false),
            ("$.obj != $.arr", true), ("$.obj == $.obj", true), ("$.obj != $.obj", false), ("$.arr == $.arr", true),
            ("$.arr != $.arr", false), ("$.obj == 17", false), ("$.obj != 17", true), ("$.obj <= $.arr", false),
            ("$.obj < $.arr", false), ("$.obj <= $.obj", true), ("$.arr <= $.arr", true), ("1 <= $.arr", false),
            ("1 >= $.arr", false), ("1 > $.arr", false), ("1 < $.arr", false), ("true <= true", true),
            ("true > true", false),
        ])
    func comparisons(comparison: String, result: Bool) throws {
        let document = try JSON.parse(#"{"obj": {"x": "y"}, "arr": [2, 3]}"#)
        #expect(try JSONPathQuery("$[?\(comparison)]").nodes(in: document).isEmpty == !result)
    }

    @Test(
        "section 2.3.5.3, table 12: filters",
        arguments: [
            ("$.a[?@.b == 'kilo']", [#"{"b":"kilo"}"#]), ("$.a[?(@.b == 'kilo')]", [#"{"b":"kilo"}"#]),
            ("$.a[?@>3.5]", ["5", "4", "6"]),
            ("$.a[?@.b]", [#"{"b":"j"}"#, #"{"b":"k"}"#, #"{"b":{}}"#, #"{"b":"kilo"}"#]),
            ("$[?@[?@.b]]", [#"[3,5,1,2,4,6,{"b":"j"},{"b":"k"},{"b":{}},{"b":"kilo"}]"#]),
            ("$.o[?@<3, ?@<3]", ["1", "2", "1", "2"]), (#"$.a[?@<2 || @.b == "k"]"#, ["1", #"{"b":"k"}"#]),
            (#"$.a[?match(@.b, "[jk]")]"#, [#"{"b":"j"}"#, #"{"b":"k"}"#]),
            (#"$.a[?search(@.b, "[jk]")]"#, [#"{"b":"j"}"#, #"{"b":"k"}"#, #"{"b":"kilo"}"#]),
            ("$.o[?@>1 && @<4]", ["2", "3"]), ("$.o[?@.u || @.x]", [#"{"u":6}"#]),
            ("$.a[?@.b == $.x]", ["3", "5", "1", "2", "4", "6"]),
        ])
    func filters(query: String, results: [String]) throws {
        try check(query, on: Self.filterDocument, gives: results)
    }

    private static let filterDocument = #"""
        {"a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}],
         "o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}}, "e": "f"}
        """#

    @Test("section 2.3.5.3, table 12: tests of all children")
    func existence() throws {
        let document = try JSON.parse(Self.filterDocument)
        #expect(
            try JSONPathQuery("$[?@.*]").locatedNodes(in: document).map(\.path.description) == ["$['a']", "$['o']"])
        #expect(try JSONPathQuery("$.a[?@ == @]").nodes(in: document).count == 10)
    }

    @Test(
        "section 2.4.3: what is well-typed",
        arguments: [
            ("$[?length(@) < 3]", true), ("$[?length(@.*) < 3]", false), ("$[?count(@.*) == 1]", true),
            ("$[?count(1) == 1]", false), ("$[?count(foo(@.*)) == 1]", false),
            ("$[?match(@.timezone, 'Europe/.*')]", true), ("$[?match(@.timezone, 'Europe/.*') == true]", false),
            ("$[?value(@..color) == \"red\"]", true), ("$[?value(@..color)]", false), ("$[?bar(@.a)]", false),
            ("$[?length(value(@.*)) == 2]", true), ("$[?length(match(@, 'a')) == 2]", false),
            ("$[?count(@.a && @.b) == 1]", false),
            ("$[?length((@.a)) == 1]", false), ("$[?length(!@.a) == 1]", false),
            ("$[?match(@, 'a') && length(@) == 1]", true),
        ])
    func typing(query: String, isValid: Bool) {
        #expect(((try? JSONPathQuery(query)) != nil) == isValid, "\(query)")
    }

    @Test(
        "section 2.5.2.3: descendants",
        arguments: [
            ("$..j", ["1", "4"]), ("$..[0]", ["5", #"{"j":4}"#]), ("$..o", [#"{"j":1,"k":2}"#]),
            ("$.o..[*, *]", ["1", "2", "1", "2"]), ("$.a..[0, 1]", ["5", "3", #"{"j":4}"#, #"{"k":6}"#]),
        ])
    func descendants(query: String, results: [String]) throws {
        try check(query, on: #"{"o": {"j": 1, "k": 2}, "a": [5, 3, [{"j": 4}, {"k": 6}]]}"#, gives: results)
    }

    @Test(
        "section 2.6.1: null",
        arguments: [
            ("$.a", ["null"]), ("$.a[0]", []), ("$.a.d", []), ("$.b[0]", ["null"]), ("$.b[*]", ["null"]),
            ("$.b[?@]", ["null"]), ("$.b[?@==null]", ["null"]), ("$.c[?@.d==null]", []), ("$.null", ["1"]),
        ])
    func null(query: String, results: [String]) throws {
        try check(query, on: #"{"a": null, "b": [null], "c": [{}], "null": 1}"#, gives: results)
    }

    @Test(
        "section 2.7.1: normalized paths",
        arguments: [
            ("$.a", #"{"a":1}"#, "$['a']"), ("$[1]", "[1,2]", "$[1]"), ("$[-3]", "[1,2,3,4,5]", "$[2]"),
            ("$.a.b[1:2]", #"{"a":{"b":[1,2]}}"#, "$['a']['b'][1]"),
            (#"$["\u000B"]"#, #"{"\u000b":1}"#, #"$['\u000b']"#),
            (#"$["\u0061"]"#, #"{"a":1}"#, "$['a']"),
            (#"$["'\\\b\t\n\f\r"]"#, #"{"'\\\b\t\n\f\r":1}"#, #"$['\'\\\b\t\n\f\r']"#),
            ("$", "1", "$"),
        ])
    func normalizedPaths(query: String, document: String, path: String) throws {
        let nodes = try JSONPathQuery(query).locatedNodes(in: try JSON.parse(document))
        #expect(nodes.map(\.path.description) == [path])
        #expect(try JSONPathQuery(path).nodes(in: JSON.parse(document)) == nodes.map(\.value))
        #expect(nodes.first?.path.pointer.value(in: try JSON.parse(document)) == nodes.first?.value)
    }
}
