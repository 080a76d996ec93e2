import JSONPath

/// The messages to a program that is tried out: nothing of them is meant to be done.
extension PluginConformance {
    /// A message to a stage that has begun nothing.
    static func stageMessage(_ type: String, _ configuration: JSON) -> JSON {
        [
            "type": .string(type), "protocol": 1, "configuration": configuration, "checkpoint": nil,
            "job": ["id": "conformance", "key": "conformance"], "stage": "test", "item": nil, "attempt": 1,
            "overwrite": false, "folder": "/nonexistent",
        ]
    }

    /// The message that asks a program of the role for its work.
    func work(_ configuration: JSON) -> JSON {
        switch program.role {
        case .stage:
            Self.stageMessage("resume", configuration)
        case .decorator:
            [
                "type": "decorate", "protocol": 1, "configuration": configuration, "key": "conformance", "attempt": 1,
                "request": [
                    "method": "POST", "url": "http://conformance.invalid/a?b=c",
                    "headers": [["name": "Content-Type", "value": "text/plain"]],
                    "body": [
                        "size": 0, "type": "text/plain",
                        "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                    ],
                ],
            ]
        case .sink:
            [
                "type": "notify", "protocol": 1, "configuration": configuration,
                "notification": [
                    "id": "conformance", "on": "succeeded", "job": "conformance", "pipeline": "conformance",
                    "time": "2026-01-01T00:00:00Z", "title": "conformance", "data": [:],
                ],
            ]
        }
    }
}
