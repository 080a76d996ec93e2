import JSONPath
import PipelineCore
import Synchronization
import Testing

/// What an expression tells of the values that it makes: so that what is made of a secret is hidden as it is.
@Suite struct IngredientTests {
    @Test(
        "a value that is made of others is told with these, and what is handed on, compared or counted is not",
        arguments: [
            ("secrets.A", nil), ("secrets.A == 'x'", nil), ("len(secrets.A)", nil),
            ("secrets.A == 'x' ? 'production' : 'test'", nil), ("text('prompt.md')", nil),
            ("lower(secrets.A)", [.secret("A")]), ("split(secrets.A, ':')[1]", [.secret("A")]),
            ("'Bearer ' + secrets.A", [.secret("A")]), ("secrets.A ?? 'none'", nil),
            ("true ? trim(secrets.A) : env.B", [.secret("A")]), ("[lower(secrets.A)]", [.secret("A")]),
            ("inputs.account.token", [.input("account")]), ("inputs.account", nil),
            ("upper(stages.session.token)", [.capture(stage: "session", name: "token")]),
        ] as [(String, [Reference.Root]?)])
    func made(text: String, of roots: [Reference.Root]?) throws {
        let expression = try Expression.parse(text, in: SourceRange(start: 0, end: text.utf8.count))
        var scope = Scope(
            inputs: ["account": ["token": "t0ken"]], env: ["B": "b"], secrets: ["A": "user:pass"],
            stages: ["session": ["token": "abcd"]])
        scope.facts[.text("/prompt.md")] = FileFact(value: "hello", fingerprint: nil).json
        let seen = Mutex<[(value: JSON, roots: [Reference.Root])]>([])
        scope.noteMade = { value, roots in seen.withLock { $0.append((value, roots)) } }
        let value = try expression.evaluate(in: scope)
        #expect(seen.withLock { $0.map(\.roots) } == (roots.map { [$0] } ?? []))
        if roots != nil { #expect(seen.withLock { $0.first?.value } == value) }
    }
}
