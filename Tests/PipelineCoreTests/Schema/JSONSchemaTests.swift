import JSONPath
import PipelineCore
import Testing

@Suite("A configuration is checked against a plugin's JSON Schema")
struct JSONSchemaTests {
    private static let schema: JSON = [
        "type": "object", "required": ["file"], "additionalProperties": false,
        "properties": [
            "file": ["type": "string", "minLength": 1], "scale": ["type": "integer", "minimum": 1, "maximum": 16],
            "mode": ["enum": ["fast", "good"]], "name": ["type": "string", "pattern": "^[a-z]+$", "maxLength": 4],
            "parts": ["type": "array", "minItems": 1, "maxItems": 2, "items": ["type": "number"]],
            "either": ["oneOf": [["type": "string"], ["type": "object", "required": ["a"]]]],
            "any": ["anyOf": [["type": "boolean"], ["type": "null"]]], "one": ["const": 1],
            "ratio": ["exclusiveMinimum": 0, "exclusiveMaximum": 1],
            "both": ["allOf": [["minimum": 2], ["maximum": 3]]],
        ],
    ]

    @Test(
        "Each mistake stands at its place",
        arguments: [
            (#"{}"#, "", "'file' is missing here"), (#"{"file": ""}"#, "/file", "this text must not be empty"),
            (#"{"file": 1}"#, "/file", "this must be a string, not a number"),
            (#"{"file": "a", "scale": 17}"#, "/scale", "this must be at most 16"),
            (#"{"file": "a", "scale": 1.5}"#, "/scale", "this must be a whole number, not a number"),
            (#"{"file": "a", "mode": "god"}"#, "/mode", #"this must be one of "fast", "good""#),
            (#"{"file": "a", "name": "Ab"}"#, "/name", "this text does not match ^[a-z]+$"),
            (#"{"file": "a", "name": "abcde"}"#, "/name", "this text may have at most 4 characters, not 5"),
            (#"{"file": "a", "parts": []}"#, "/parts", "this array must not be empty"),
            (#"{"file": "a", "parts": [1, "x"]}"#, "/parts/1", "this must be a number, not a string"),
            (#"{"file": "a", "parts": [1, 2, 3]}"#, "/parts", "this array may have at most 2 elements, not 3"),
            (#"{"file": "a", "either": {}}"#, "/either", "'a' is missing here"),
            (#"{"file": "a", "any": 1}"#, "/any", "this has none of the 2 forms that may stand here"),
            (#"{"file": "a", "one": 2}"#, "/one", "this must be 1"),
            (#"{"file": "a", "ratio": 1}"#, "/ratio", "this must be less than 1"),
            (#"{"file": "a", "both": 4}"#, "/both", "this must be at most 3"),
            (#"{"file": "a", "scael": 2}"#, "/scael", "unknown key 'scael'"),
        ])
    func mistakes(text: String, pointer: String, message: String) throws {
        let place = SourceLocation(try JSONNode.parse(SourceText(name: "a.json", text: text)))
        let found = JSONSchema(Self.schema).mistakes(at: place)
        #expect(found.map(\.pointer) == [pointer])
        #expect(found.map(\.message) == [message])
    }

    @Test("What fits has no mistakes; an expression fits everywhere until its value is known")
    func fits() throws {
        let text = #"{"file": "a", "scale": "${{ inputs.n }}", "one": 1.0, "either": {"a": 1}, "parts": ["${{ 1 }}"]}"#
        let place = SourceLocation(try JSONNode.parse(SourceText(name: "a.json", text: text)))
        #expect(JSONSchema(Self.schema).mistakes(at: place).isEmpty)
        #expect(JSONSchema(Self.schema).mistakes(in: place.node.json).map(\.pointer) == ["/scale", "/parts/0"])
    }

    @Test("What the schema itself has wrong is told and ignored")
    func problems() {
        let schema = JSONSchema(["type": "text", "pattern": "(", "$ref": "#/x", "properties": ["a": 1]])
        #expect(schema.problems.count == 4)
        #expect(schema.mistakes(in: "anything").isEmpty)
    }
}
