import Foundation
import JSONPath
import PipelineCore
import Testing

/// Documents of ten thousand stages: nothing in reading and planning may grow with their square.
@Suite("Large documents", .serialized)
struct LargeDocumentTests {
    private static let count = 10_000
    /// A debug build is ten times slower, on a shared machine twenty: there the growth alone says something.
    #if DEBUG
        private static let limit = 40.0
    #else
        private static let limit = 0.5
    #endif

    @Test("ten thousand stages that read each other are planned in half a second")
    func valid() throws {
        func source(_ count: Int) -> SourceText {
            let text = Self.document(of: count) { index in
                let read = index == 0 ? "start" : "${{ stages.s\(index - 1).id }}"
                let condition = index % 3 == 0 ? #", "when": "inputs.go == true && stages.s0.id != null""# : ""
                return #"""
                    { "id": "s\#(index)", "kind": "request", "service": "api"\#(index == 0 ? "" : condition),
                      "request": { "POST": "/items/\#(read)", "json": { "n": \#(index), "text": "${{ env.A ?? 'b' }}" },
                                   "timeout": "30s", "capture": { "id": "$.id", "url": "header:Location" } } }
                    """#
            }
            return SourceText(name: "large.json", text: text)
        }
        let (fourth, whole) = (source(Self.count / 4), source(Self.count))
        var plan: Plan?
        let few = try Self.seconds { _ = try Planner(catalogue: SampleKinds.catalogue).plan(fourth) }
        let seconds = try Self.seconds { plan = try Planner(catalogue: SampleKinds.catalogue).plan(whole) }
        // The square of it would be sixteen times as much.
        #expect(seconds < few * 9)
        #expect(plan?.stages.count == Self.count)
        #expect(plan?.dependents(of: "s0").count == Self.count)
        #expect(seconds < Self.limit)
    }

    @Test("ten thousand mistakes in one line are told in seconds")
    func wrong() {
        let text = Self.document { index in
            #"""
            { "id": "s\#(index)", "kind": "wait", "for": "${{ stages.wrong\#(index).x }}",
              "needs": ["t\#(index)"], "dely": 1 }
            """#
        }.replacing("\n", with: " ")
        let source = SourceText(name: "large.json", text: text)
        var report = ""
        var count = 0
        let seconds = Self.seconds {
            do throws(DefinitionError) {
                _ = try Planner(catalogue: SampleKinds.catalogue).plan(source)
            } catch {
                count = error.diagnostics.count
                report = error.report
            }
        }
        #expect(count == 3 * Self.count)
        #expect(report.contains("stages here: s0, s1,") && report.contains("and \(Self.count - 12) more"))
        #expect(seconds < Self.limit * 6)
    }

    @Test("ten thousand stages in one circle are one mistake")
    func circle() {
        let text = Self.document { index in
            #"{ "id": "s\#(index)", "kind": "wait", "for": "1s", "needs": ["s\#((index + 1) % Self.count)"] }"#
        }
        var messages: [String] = []
        let seconds = Self.seconds {
            do throws(DefinitionError) {
                _ = try Planner(catalogue: SampleKinds.catalogue).plan(SourceText(name: "large.json", text: text))
            } catch {
                messages = error.diagnostics.map(\.message)
            }
        }
        #expect(
            messages == [
                "the stages 's0', 's1', 's2', 's3', 's4', 's5' and 9994 more wait for each other, so none can start"
            ])
        #expect(seconds < Self.limit)
    }

    private static func document(of count: Int = count, _ stage: (Int) -> String) -> String {
        let stages = (0..<count).map(stage).joined(separator: ",\n")
        return """
            { "pipeline": 1, "name": "large", "inputs": { "go": { "type": "boolean", "default": true } },
              "services": { "api": { "url": "http://localhost", "with": [ { "bearer": "${{ secrets.TOKEN }}" } ] } },
              "stages": [\n\(stages)\n] }
            """
    }

    /// Seconds of this thread's own work, whatever else the machine does.
    private static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let start = threadSeconds()
        try work()
        return threadSeconds() - start
    }

    private static func threadSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
