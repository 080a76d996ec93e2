import JSONPath
import Testing

/// The corners of RFC 9535's grammar and semantics, each with the section that says so.
@Suite("JSONPath to the letter")
struct JSONPathExactnessTests {
    @Test(
        "white space stands only where the grammar has S (appendix A)",
        arguments: [
            ("$ ['a']", true), ("$\t.a", true), ("$\r\n..a", true), ("$. a", false), ("$.. a", false),
            ("$.. ['a']", false),
            (" $", false), ("$ ", false), ("$.a ", false), ("$[ 'a' , 0 ]", true), ("$[ 1 : 5 : 2 ]", true),
            ("$[1 :]", true), ("$[1: :2]", true), ("$[? @.a ]", true), ("$[?@ .a]", true), ("$[?@. a]", false),
            ("$[?! @.a]", true), ("$[?( @.a )]", true), ("$[?count (@.*)==1]", false), ("$[?count( @.* )==1]", true),
            ("$[?match( @.a , 'x' )]", true), ("$\u{A0}.a", false), ("$[?@.a\u{0B}]", false), ("$[?@.a==\n1]", true),
            ("$ [0] [1]", true), ("$[?@.a[ 0 ]==1]", true), ("$[- 1]", false), ("$[?- 1==@]", false),
        ])
    func whitespace(query: String, isValid: Bool) { #expect(Self.isValid(query) == isValid, "\(query)") }

    @Test(
        "integers and numbers have one spelling (2.1, 2.3.3.1, 2.3.5.1)",
        arguments: [
            ("$[0]", true), ("$[-1]", true), ("$[-0]", false), ("$[01]", false), ("$[+1]", false), ("$[1.0]", false),
            ("$[1e0]", false), ("$[9007199254740991]", true), ("$[9007199254740992]", false),
            ("$[-9007199254740991]", true), ("$[-9007199254740992]", false), ("$[:9007199254740992]", false),
            ("$[::-9007199254740992]", false), ("$[99999999999999999999999]", false), ("$[1:-0]", false),
            ("$[::0]", true), ("$[:::]", false), ("$[?@==-0]", true), ("$[?@==-0.0]", true), ("$[?@==00]", false),
            ("$[?@==-01]", false), ("$[?@==1.]", false), ("$[?@==.5]", false), ("$[?@==+1]", false),
            ("$[?@==1e]", false),
            ("$[?@==1E+2]", true), ("$[?@==1e-02]", true), ("$[?@==1.5e3]", true), ("$[?@==0x1]", false),
            ("$[?@==1e1.5]", false), ("$[?@==--1]", false),
        ])
    func numbers(query: String, isValid: Bool) { #expect(Self.isValid(query) == isValid, "\(query)") }

    @Test(
        "strings have the escapes of their own quotes alone (2.3.1.1)",
        arguments: [
            (#"$["\'"]"#, false), (#"$['\"']"#, false), (#"$['\'']"#, true), (#"$["\""]"#, true), (#"$['"']"#, true),
            (#"$["'"]"#, true), (#"$['\b\f\n\r\t\/\\']"#, true), (#"$['\a']"#, false), (#"$['\u00e9\u00E9']"#, true),
            (#"$['\U00e9']"#, false), (#"$['\u00e']"#, false), (#"$['\uD83D\uDE00']"#, true), (#"$['\uD83D']"#, false),
            (#"$['\uDE00\uD83D']"#, false), (#"$['\uD83D\u0041']"#, false), (#"$['\uD83D\UDE00']"#, false),
            ("$['\u{0}']", false), ("$['\t']", false), ("$['\u{7F}']", true), ("$['']", true), ("$['a", false),
        ])
    func strings(query: String, isValid: Bool) { #expect(Self.isValid(query) == isValid, "\(query)") }

    @Test(
        "names, roots and words are what they are (2.5.1.1, 2.2, 2.3.5.1)",
        arguments: [
            ("$.a☺", true), ("$._☺1", true), ("$[1:2 3]", false), ("$[5:9 2,*]", false),
            ("$._a1", true), ("$.é", true), ("$.😀", true), ("$.1a", false), ("$.-a", false), ("$.a-b", false),
            ("$.a.$", false), ("$a", false), ("$.", false), ("$..", false), ("$...a", false), ("$.a..", false),
            ("", false),
            ("@", false), ("$.'a'", false), ("$.[0]", false), ("$..[0]", true), ("$..*", true), ("$[]", false),
            ("$[,0]", false), ("$[0,]", false), ("$['a' 'b']", false), ("$[*,'a',0,1:2,?@]", true), ("$[a]", false),
            ("$[?@.a==TRUE]", false), ("$[?@.a==True]", false), ("$[?@.a==null]", true), ("$[?@.a==nul]", false),
            ("$(a)", false), ("$[(@.length-1)]", false), ("$[?@.a=1]", false), ("$[?@.a===1]", false),
            ("$[?@.a<>1]", false), ("$[?@.a & @.b]", false), ("$[?]", false), ("$[?@.a||]", false),
            ("$[?&&@.a]", false), ("$[?@.a and @.b]", false),
        ])
    func names(query: String, isValid: Bool) { #expect(Self.isValid(query) == isValid, "\(query)") }

    @Test(
        "expressions are well typed (2.4.3)",
        arguments: [
            ("$[?length(@.a)]", false), ("$[?length(@.*)<3]", false), ("$[?length(@['a','b'])<3]", false),
            ("$[?length(@)<3]", true), ("$[?length(value(@..a))<3]", true), ("$[?length('abc')==3]", true),
            ("$[?length()<3]", false), ("$[?length(@,@)<3]", false), ("$[?count(@.*)>1]", true),
            ("$[?count(1)>1]", false),
            ("$[?count(value(@.a))>1]", false), ("$[?count(@.*)]", false), ("$[?value(@.*)==4]", true),
            ("$[?value(@.*)]", false), ("$[?value(4)==4]", false), ("$[?match(@.a,'x')]", true),
            ("$[?match(@.a,'x')==true]", false), ("$[?match(@.*,'x')]", false), ("$[?match(@.a)]", false),
            ("$[?search(@.a,@.b)]", true), ("$[?!search(@.a,'x') && @.b]", true), ("$[?Length(@)<3]", false),
            ("$[?foo(@)]", false), ("$[?@.*==1]", false), ("$[?@[0,1]==1]", false), ("$[?@..a==1]", false),
            ("$[?@[0:1]==1]", false), ("$[?@['a']==$[0]]", true), ("$[?1==1]", true), ("$[?1]", false),
            ("$[?true]", false),
            ("$[?'a' && @.b]", false), ("$[?!@.a==1]", false), ("$[?!(@.a==1)]", true), ("$[?!!@.a]", false),
            ("$[?(@.a)==1]", false), ("$[?1==(@.a)]", false), ("$[?(@.a==1)==true]", false), ("$[?@.a==1==1]", false),
            ("$[?length(match(@.a,'x'))==1]", false), ("$[?count(@.a==1)==1]", false), ("$[?count((@.*))==1]", false),
            ("$[?search(@.a,'x',)]", false), ("$[?count(@[?@.a,?@.b])>0]", true), ("$[?1>!@.a]", false),
            ("$[?value(@[?@.a==1,0:2])==1]", true), ("$[?length(false)==1]", true), ("$[?count(,@)>0]", false),
            ("$[?@[?@.a]]", true), ("$[?count($..*)>2]", true), ("$[?length(length(@))==1]", true),
        ])
    func types(query: String, isValid: Bool) { #expect(Self.isValid(query) == isValid, "\(query)") }

    @Test("comparisons follow table 11 (2.3.5.3)")
    func comparisons() throws {
        let document = try JSON.parse(
            #"[{"n":1,"o":{"x":1,"y":[2]},"p":{"y":[2],"x":1.0},"s":"a","a":[1],"nothing":null,"é":"e\u0301"}]"#)
        let rows: [(String, Bool)] = [
            ("@.x == @.y", true), ("@.x <= @.y", true), ("@.x < @.y", false), ("@.x == 1", false), ("@.x != 1", true),
            ("@.x == @.nothing", false), ("@.nothing == null", true), ("@.nothing <= null", true),
            ("@.nothing < 1", false), ("@.n == 1.0", true), ("@.n == 10e-1", true), ("@.n == '1'", false),
            ("@.n == 1.00000000000000000001", false), ("9007199254740993 == 9007199254740992", false),
            ("-0 == 0", true), ("1e400 > 1e399", true), ("@.o == @.p", true), ("@.o <= @.p", true),
            ("@.o < @.p", false),
            ("@.a <= @.a", true), ("@.a < @.a", false), ("true <= true", true), ("true < false", false),
            ("true >= false", false), ("@.s < 'b'", true), ("@.s < 'B'", false), ("'' < 'a'", true),
            ("'\u{FF61}' < '\u{1F600}'", true), ("@['é'] == 'é'", false), ("@['é'] == 'e\u{301}'", true),
            ("length(@.n) == @.x", true), ("length(@.s) == 1", true), ("length('😀') == 1", true),
            ("length(@.o) == 2", true), ("value(@.*) == @.x", true), ("count(@.x) == 0", true),
            ("match(@.n, '1')", false), ("match(@.s, 1)", false), ("match(@.s, '[')", false), ("search('', '')", true),
            ("@.nothing", true), ("!@.nothing", false), ("!@.x", true), ("@.x || @.n && @.s", true),
            ("(@.x || @.n) && @.x", false),
        ]
        for (condition, expected) in rows {
            let nodes = try JSONPathQuery("$[?\(condition)]").nodes(in: document)
            #expect(nodes.count == (expected ? 1 : 0), "\(condition)")
        }
    }

    @Test(
        "slices have the bounds of 2.3.4.2.2",
        arguments: [
            ("1:3", [1, 2]), ("5:", []), ("-2:", [3, 4]), (":-3", [0, 1]), ("-99:99", [0, 1, 2, 3, 4]), ("3:1", []),
            ("::-1", [4, 3, 2, 1, 0]), ("3:1:-1", [3, 2]), ("1:3:-1", []), ("-1:-4:-2", [4, 2]), ("::-2", [4, 2, 0]),
            ("99:-99:-2", [4, 2, 0]), ("0::-1", [0]), (":0:-1", [4, 3, 2, 1]), ("::0", []),
            ("1:4:9007199254740991", [1]),
            ("-9007199254740991:9007199254740991:2", [0, 2, 4]), ("4:-9007199254740991:-9007199254740991", [4]),
        ])
    func slices(slice: String, expected: [Int]) throws {
        let nodes = try JSONPathQuery("$[\(slice)]").nodes(in: [0, 1, 2, 3, 4])
        #expect(nodes == expected.map { .number(JSONNumber($0)) })
    }

    @Test("nodes come in the order of the selectors, duplicates and all (2.1.2, 2.5.1.2, 2.5.2.2)")
    func order() throws {
        let document = try JSON.parse(#"{"a":[1,[2,3]],"b":{"c":4}}"#)
        func texts(_ query: String) throws -> String { JSON.array(try JSONPathQuery(query).nodes(in: document)).text }
        #expect(try texts("$.a[1,0,1]") == "[[2,3],1,[2,3]]")
        #expect(try texts("$.a[0,0]['x']") == "[]")
        #expect(try texts("$..[0,1]") == "[1,[2,3],2,3]")
        #expect(try texts("$..*") == #"[[1,[2,3]],{"c":4},1,[2,3],2,3,4]"#)
        #expect(try texts("$[?@[?@==4]]") == #"[{"c":4}]"#)
    }

    @Test("normalized paths have single quotes and the shortest escapes (2.7)")
    func normalized() throws {
        let names = [
            "a", "'", "\"", "\\", "\u{8}\u{9}\u{A}\u{C}\u{D}", "\u{0}\u{B}\u{1F}", "\u{7F}\u{2028}", "é😀", "/",
        ]
        let document = JSON.object(JSONObject(names.map { ($0, [true]) }))
        let paths = try JSONPathQuery("$.*[-1]").locatedNodes(in: document).map(\.path.description)
        #expect(
            paths == [
                "$['a'][0]", #"$['\''][0]"#, "$['\"'][0]", #"$['\\'][0]"#, #"$['\b\t\n\f\r'][0]"#,
                #"$['\u0000\u000b\u001f'][0]"#, "$['\u{7F}\u{2028}'][0]", "$['é😀'][0]", "$['/'][0]",
            ])
        for path in paths { #expect(try JSONPathQuery(path).nodes(in: document) == [true]) }
    }

    @Test(
        "I-Regexp has its own grammar (RFC 9485, section 3): classes, ranges, categories, dots",
        arguments: [
            ("[-a]", "-", true), ("[a-]", "-", true), ("[--]", "-", true), ("[^-]", "-", false), ("[a-c-]", "-", true),
            ("a{2}", "aa", true), ("a{2,}", "aaaa", true), ("a{0}", "", true), ("a{,2}", "a", false),
            ("a{2", "a{2", false),
            ("()", "", true), ("|a", "", true), ("(a|)b", "b", true), (".", "\u{2028}", true), (".", "\n", false),
            (".", "\r", false), ("..", "😀a", true), ("\\p{Lu}", "É", true), ("\\P{Lu}", "é", true),
            ("\\p{C}", "\u{0}", true),
            ("\\p{Cs}", "a", false), ("\\d", "1", false), ("\\w", "a", false), ("\\s", " ", false), ("a*?", "a", false),
            ("a++", "a", false), ("(?:a)", "a", false), ("(?i)a", "A", false), ("[[:digit:]]", "1", false),
            ("\\-", "-", true),
            ("\\_", "_", false), ("[\\]]", "]", true), ("[\\n]", "\n", true), ("\\.", "x", false), ("A", "a", false),
        ])
    func expressions(pattern: String, text: String, isMatch: Bool) throws {
        let query = try JSONPathQuery("$[?match(@.t,@.p)]")
        #expect(try query.nodes(in: [["t": .string(text), "p": .string(pattern)]]).isEmpty != isMatch)
    }

    private static func isValid(_ query: String) -> Bool { (try? JSONPathQuery(query)) != nil }
}
