import JSONPath
import SeededNumbers
import Testing

/// Random mutations of sound inputs: nothing may crash, and what is read must be what is written again.
struct FuzzTests {
    private func mutated(_ text: String, alphabet: String, _ generator: inout SplitMix64) -> [UInt8] {
        var bytes = Array(text.utf8)
        let alphabet = Array(alphabet.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            let byte = alphabet.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes.insert(byte, at: place)
            case 1 where place < bytes.count: bytes.remove(at: place)
            case 2 where place < bytes.count: bytes[place] = byte
            case 3 where place < bytes.count: bytes.insert(contentsOf: bytes[place...].prefix(5), at: place)
            default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            }
        }
        return bytes
    }

    @Test(
        "mutated documents are refused or survive a round trip, in both parsers",
        arguments: 1...4 as ClosedRange<UInt64>)
    func documents(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let sound = #"{"a":[1,-2.5e3,true,null,"x\u00e9\n😀"],"b":{"c":{},"a":"","d":[[],[0]]},"e":false}"#
        var read = 0
        for _ in 0..<1_500 {
            let bytes = mutated(sound, alphabet: "{}[]\",:\\/*u0123456789-+.eEtrufalsn \n'", &generator)
            let source = SourceText(name: "fuzz", bytes: bytes)
            let node = JSONNode.read(source)
            for error in node.errors { _ = source.frame(error.range) }
            guard let value = try? JSON.parse(bytes) else { continue }
            read += 1
            #expect(try JSON.parse(value.text) == value)
            #expect(try JSON.parse(value.prettyText()) == value)
            let hasDuplicates = (try? JSON.parse(bytes, duplicates: .error)) == nil
            #expect(node.errors.isEmpty != hasDuplicates)
            if !hasDuplicates { #expect(node.node?.json == value) }
        }
        #expect(read > 50)
    }

    @Test("mutated pointers are refused or survive a round trip", arguments: 1...2 as ClosedRange<UInt64>)
    func pointers(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let document: JSON = ["a": [["b": 1]], "~": 2]
        for _ in 0..<1_500 {
            let text = String(decoding: mutated("/a/0/b~0~1/-", alphabet: "/~01ab-9", &generator), as: UTF8.self)
            guard let pointer = try? JSONPointer(text) else { continue }
            #expect(pointer.description == text)
            _ = pointer.value(in: document)
        }
    }

    @Test(
        "mutated queries are refused or evaluated, and their places lead back", arguments: 1...4 as ClosedRange<UInt64>)
    func queries(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let sound = [
            "$.a[0:2:1]..b[?@.c=='x' && (@.d<1.5||!@.e)].f", "$..[?match(@.a,'[a-z]+\\\\.')][*,-1,\"n\"]",
            "$[?length(@.a)>=count($..*) || value(@.b)!=null]['x','y'][::-2]",
        ]
        let document = try JSON.parse(
            #"{"a":[{"b":[{"c":"x","f":1}]},2],"b":{"a":"ab.","n":[1,2,3]},"x":null,"e":true}"#)
        var valid = 0
        for _ in 0..<1_500 {
            let base = sound.randomElement(using: &generator) ?? ""
            let bytes = mutated(base, alphabet: "$@.[]*?()!&|=<>'\",:-0123456789abcnu\\ ", &generator)
            guard let query = try? JSONPathQuery(String(decoding: bytes, as: UTF8.self)) else { continue }
            valid += 1
            for (path, value) in try query.locatedNodes(in: document, limit: 20, budget: 100_000) {
                #expect(try JSONPathQuery(path.description).nodes(in: document) == [value])
                #expect(path.pointer.value(in: document) == value)
            }
        }
        #expect(valid > 50)
    }

    @Test(
        "mutated expressions are refused or run; a match is found exactly when one is reported",
        arguments: 1...4 as ClosedRange<UInt64>)
    func expressions(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let sound = [
            #"^(a|b)*?[^c-e\d]+(?:x{2,3}|\p{Lu}?)$"#, #"(\w+)\s*=\s*(?i:"([^"]*)")\b|z{3}"#, "[a-c]*(ab|ba)+.{1,4}",
        ]
        let texts = ["", "abab", "key = \"VALUE\"", "zzz", "aaaaaaxxxÉ", "\n\n😀b"]
        var valid = 0
        for _ in 0..<1_500 {
            let base = sound.randomElement(using: &generator) ?? ""
            let pattern = String(
                decoding: mutated(base, alphabet: "()[]{}|*+?.^$\\abdwsp0123,-:iL", &generator), as: UTF8.self)
            _ = try? LinearRegex(interoperable: pattern).isFound(in: texts[4])
            guard let regex = try? LinearRegex(pattern) else { continue }
            valid += 1
            for text in texts {
                let match = regex.firstMatch(in: text)
                #expect((match != nil) == regex.isFound(in: text))
                if let match, match.text == text { #expect(regex.matchesWhole(text)) }
            }
        }
        #expect(valid > 50)
    }
}
