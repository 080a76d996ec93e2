import PipelineCore
import PipelineHTTP

/// The settings of where spans go, by the variables that all OpenTelemetry programs have
/// (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
struct TraceSettings: Sendable {
    let url: String
    let headers: [(name: String, value: String)]
    /// The variable that names the collector.
    private let variable: String
    /// The form in which spans are sent, as the variables have it.
    private let form: String
    let timeout: Duration
    let resource: [Span.Attribute]

    /// Nil when no collector is named, or tracing is switched off.
    init?(environment: [String: String], version: String) {
        func value(_ name: String) -> String? {
            environment["OTEL_EXPORTER_OTLP_TRACES_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
                ?? environment["OTEL_EXPORTER_OTLP_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard environment["OTEL_SDK_DISABLED"]?.lowercased() != "true", environment["OTEL_TRACES_EXPORTER"] != "none"
        else { return nil }
        if let own = environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"], !own.isEmpty {
            variable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
            url = own
        } else if let base = environment["OTEL_EXPORTER_OTLP_ENDPOINT"], !base.isEmpty {
            variable = "OTEL_EXPORTER_OTLP_ENDPOINT"
            url = (base.hasSuffix("/") ? String(base.dropLast()) : base) + "/v1/traces"
        } else {
            return nil
        }
        form = value("PROTOCOL") ?? Self.protobuf
        timeout = value("TIMEOUT").flatMap { Int64($0) }.map { .milliseconds($0) } ?? .seconds(10)
        headers =
            Self.pairs(environment["OTEL_EXPORTER_OTLP_HEADERS"])
            + Self.pairs(environment["OTEL_EXPORTER_OTLP_TRACES_HEADERS"])
        var resource = Self.pairs(environment["OTEL_RESOURCE_ATTRIBUTES"])
        if let name = environment["OTEL_SERVICE_NAME"], !name.isEmpty {
            resource.removeAll { $0.name == "service.name" }
            resource.append(("service.name", name))
        } else if !resource.contains(where: { $0.name == "service.name" }) {
            resource.append(("service.name", "pipeline"))
        }
        if !resource.contains(where: { $0.name == "service.version" }) { resource.append(("service.version", version)) }
        self.resource = resource.map { Span.Attribute($0.name, $0.value) }
    }

    private static let (protobuf, json) = ("http/protobuf", "http/json")

    var isJSON: Bool { form == Self.json }

    /// The reason why nothing can be sent by these settings, in words; nil when it can.
    var mistake: String? {
        if URLParts(url)?.authority.isEmpty ?? true {
            return "no traces are sent: \(variable) has to begin with http:// or https:// and a host"
        }
        guard [Self.protobuf, Self.json].contains(form) else {
            return "no traces are sent: OTEL_EXPORTER_OTLP_PROTOCOL has to be http/protobuf or http/json, not '\(form)'"
        }
        return nil
    }

    /// `name=value,name=value`, percent-encoded (https://www.w3.org/TR/baggage/).
    private static func pairs(_ text: String?) -> [(name: String, value: String)] {
        (text ?? "").split(separator: ",").compactMap { entry in
            guard let equals = entry.firstIndex(of: "=") else { return nil }
            let name = entry[..<equals].filter { $0 != " " }
            let value = entry[entry.index(after: equals)...].drop { $0 == " " }
            return name.isEmpty ? nil : (PercentEncoding.decoded(name), PercentEncoding.decoded(value))
        }
    }
}
