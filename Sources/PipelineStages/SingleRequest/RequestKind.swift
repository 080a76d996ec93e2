import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// The kind `request`: sends one request and takes values out of its answer.
enum RequestKind {
    static func make(network: Indirect<Network>, decorators: DecoratorCatalogue) -> StageKind {
        let fields = RequestStageFields(decorators)
        return StageKind(
            name: "request", summary: "Sends one request and takes values out of its answer.", fields: fields.all
        ) { reading in
            var requests = StageRequests(reading: reading, network: network, decorators: decorators)
            requests.counted = reading.reader.has("paginate") ? .sent : .all
            // Of pages the items are written, not the bodies.
            requests.acceptsCodings = !reading.reader.has("to") || reading.reader.has("paginate")
            return fields.stage(reading, requests).map {
                AnyStage(
                    $0, coding: .json, work: .transfer, settlesSubmit: $0.definition.settlesSubmit,
                    writesFiles: $0.to != nil,
                    standsAlone: { $0.paging != nil })
            }
        }
    }
}

/// The table of a request stage's own fields.
private struct RequestStageFields: Sendable {
    let request: Field<RequestDefinition>
    let to = Field("to", FieldType<Template>.outputPath(), "The file that the body is written to.")
    let capture = Field("capture", FieldType<CaptureSet>.captures(isSubmitted: true), "Values from the answer.")
    let paginate = Field(
        "paginate", PaginateDefinition.type(.request),
        "Fetches all pages: captures read their items as $items, and 'to' gets them as JSON Lines.")

    init(_ decorators: DecoratorCatalogue) {
        request = Field(
            "request", RequestDefinition.type(decorators: decorators, options: .init(allowsOnce: true)), required: true,
            examples: [["GET": "/path"]],
            "The request.")
    }

    var all: [any AnyField] { [request, to, capture, paginate] }

    func stage(_ reading: StageReading, _ requests: StageRequests) -> RequestStage? {
        let reader = reading.reader
        let pages = reader.optional(paginate)
        let captures = reader.value(capture, default: CaptureSet())
        let target = reader.optional(to)
        guard let definition = reader.required(request) else { return nil }
        requests.check(definition, reading.findings)
        if definition.isIdempotent, definition.once != nil, let place = definition.place {
            reading.findings.report(
                place, "'once' has a meaning only with POST and PATCH",
                hint: "\(definition.method.rawValue) is sent again without harm; leave \"once\" out")
        }
        let all = CaptureSet(definition.capture.entries + captures.entries)
        if target != nil, !all.names.contains("path") { reading.declare([CaptureDeclaration(name: "path")]) }
        if let pages {
            check(pages, definition, target, all, reading.findings)
            let ofRequest = definition.place?.members?.first { $0.member.name == "capture" }?.place
            for place in [reader.place(of: "capture"), ofRequest].compactMap(\.self) {
                warnOfLastPage(all, at: place, pages, reading.findings)
            }
        }
        return RequestStage(
            requests: requests, definition: definition, to: target, capture: all, paginate: pages)
    }

    private func check(
        _ pages: PaginateDefinition, _ definition: RequestDefinition, _ target: Template?, _ captures: CaptureSet,
        _ findings: DiagnosticCollector
    ) {
        pages.check(against: definition, findings)
        if let once = definition.once, once.resends.constant != true, let place = definition.place {
            findings.report(
                place, "'once' has no meaning beside 'paginate'",
                hint: "pages are read, and each is asked for again when its answer is lost; leave \"once\" out")
        }
        if case .text = pages.content {
            if let entry = captures.entries.first(where: \.selector.readsItems) {
                findings.report(
                    pages.place, "the capture '\(entry.name)' reads $items, and these pages are text",
                    hint: "\"to\" writes the text of all pages to a file")
            } else if target == nil {
                findings.report(
                    pages.place, "the text of the pages goes nowhere",
                    hint: "add \"to\": the file that it is written to")
            }
            return
        }
        if target != nil, let entry = captures.entries.first(where: \.selector.readsItems) {
            findings.report(
                pages.place, "the capture '\(entry.name)' reads $items, which \"to\" writes to a file instead",
                hint: "take out \"to\" or the capture")
        }
    }

    /// A capture of the body reads the last page, where most often the items of all pages are meant.
    private func warnOfLastPage(
        _ captures: CaptureSet, at place: SourceLocation, _ pages: PaginateDefinition, _ findings: DiagnosticCollector
    ) {
        for (member, place) in place.members ?? [] {
            guard let entry = captures.entries.first(where: { $0.name == member.name }), entry.selector.readsBody else {
                continue
            }
            findings.warn(
                place, "the capture '\(entry.name)' reads the last page alone", hint: pages.advice(for: entry.selector))
        }
    }
}
