import Foundation
import JSONPath
import PipelineCore
import SeededNumbers
import Testing

/// Documents that nobody would write. `FUZZ=100000` tries more of them.
@Suite("Fuzzed documents")
struct DefinitionFuzzTests {
    private static let rounds = ProcessInfo.processInfo.environment["FUZZ"].flatMap { Int($0) } ?? 800
    private let planner = Planner(catalogue: SampleKinds.catalogue)

    @Test("a document with bytes changed is planned, or refused with places inside the text")
    func bytes() throws {
        var random = SplitMix64(seed: 20_261)
        let sources = try Self.sources()
        for round in 0..<Self.rounds {
            var bytes = sources[round % sources.count]
            for _ in 0..<random.below(6) + 1 { mutate(&bytes, &random) }
            check(SourceText(name: "fuzz.json", bytes: bytes), round)
        }
    }

    @Test("a document with values and keys changed is planned, or refused with places inside the text")
    func values() throws {
        var random = SplitMix64(seed: 77)
        let documents = try Self.sources().map { try JSONNode.parse(SourceText(name: "", bytes: $0)).json }
        for round in 0..<Self.rounds {
            var mutation = DocumentMutation(random: random)
            let document = mutation.mutated(documents[round % documents.count])
            random = mutation.random
            check(SourceText(name: "fuzz.json", text: document.prettyText()), round)
        }
    }

    private func check(_ source: SourceText, _ round: Int) {
        do throws(DefinitionError) {
            _ = try planner.plan(source)
        } catch {
            let limit = source.bytes.count
            let isInside = error.diagnostics.allSatisfy {
                0 <= $0.range.start && $0.range.start <= $0.range.end && $0.range.end <= limit + 1
                    && !$0.message.isEmpty
            }
            #expect(isInside, "round \(round): \(error.diagnostics)")
            #expect(
                !error.diagnostics.isEmpty && Set(error.diagnostics).count == error.diagnostics.count, "round \(round)")
            _ = error.report
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        guard !bytes.isEmpty else { return }
        let position = random.below(bytes.count)
        let interesting = Array(#"{}[]":,'$\/*-0123456789eE.truefalsn "#.utf8) + [0, 0x0A, 0x80, 0xC3, 0xFF]
        switch random.below(4) {
        case 0: bytes[position] = interesting[random.below(interesting.count)]
        case 1: bytes.insert(interesting[random.below(interesting.count)], at: position)
        case 2: bytes.removeSubrange(position..<min(bytes.count, position + random.below(12) + 1))
        default:
            let other = random.below(bytes.count)
            bytes.insert(contentsOf: bytes[other..<min(bytes.count, other + random.below(40))], at: position)
        }
    }

    private static func sources() throws -> [[UInt8]] {
        try ValidDocumentTests.names.map { try ValidDocumentTests.source($0).bytes }
    }
}

/// Changes one place of a document: another value, a key more or less, a mistyped key.
struct DocumentMutation {
    var random: SplitMix64
    /// How many values have been passed before the place is chosen.
    private var target = 0
    private var passed = 0

    init(random: SplitMix64) { self.random = random }

    mutating func mutated(_ document: JSON) -> JSON {
        target = random.below(Self.size(of: document))
        passed = 0
        return walk(document)
    }

    private static func size(of value: JSON) -> Int {
        switch value {
        case .array(let elements): 1 + elements.reduce(0) { $0 + size(of: $1) }
        case .object(let members): 1 + members.reduce(0) { $0 + size(of: $1.value) }
        default: 1
        }
    }

    private mutating func walk(_ value: JSON) -> JSON {
        defer { passed += 1 }
        if passed == target { return changed(value) }
        switch value {
        case .array(let elements):
            var result: [JSON] = []
            for element in elements {
                passed += 1
                result.append(walkInner(element))
            }
            return .array(result)
        case .object(let members):
            var result = JSONObject()
            for (name, member) in members {
                passed += 1
                result[name] = walkInner(member)
            }
            return .object(result)
        default: return value
        }
    }

    private mutating func walkInner(_ value: JSON) -> JSON {
        passed -= 1
        return walk(value)
    }

    private mutating func changed(_ value: JSON) -> JSON {
        if case .object(var members) = value, random.below(2) == 0 {
            let names = members.names
            let name = names.isEmpty ? "a" : names[random.below(names.count)]
            switch random.below(3) {
            case 0: members[name] = nil
            case 1: members["\(name)s"] = members[name] ?? 1
            default: members["unknownKey"] = "value"
            }
            return .object(members)
        }
        if case .array(let elements) = value, random.below(2) == 0 {
            return .array(random.below(2) == 0 ? Array(elements.dropLast()) : elements + elements)
        }
        let values: [JSON] = [
            nil, true, false, 0, 1, -5, 1.5, "", "x", "30s", "8MiB", "GET", "upload", "${{ inputs.a }}",
            "${{ stages.a.b }}",
            "${{", "$.a", [], [1], ["a"], [:], ["a": 1], ["select": "$.a"], ["GET": "/a"],
        ]
        return values[random.below(values.count)]
    }
}
