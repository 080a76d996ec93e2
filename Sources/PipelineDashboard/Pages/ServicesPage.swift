import JSONPath
import PipelineCore
import PipelineKit
import PipelinePictures

/// The services that documents talk to: what is under way there, and how requests went.
struct ServicesPage {
    /// What is known of one service, over all documents that name it by the same address.
    private struct Service {
        var names: Set<String> = []
        var computations = 0
        var polls = 0
        var durations: [Double] = []
        var requests = 0
        var errors: [String: Int] = [:]
    }

    private let view: JobView
    private let page: Page

    init(_ view: JobView, _ page: Page) {
        self.view = view
        self.page = page
    }

    /// Of each pipeline the newest jobs' exchanges are read.
    private static let (pipelines, jobs) = (30, 10)

    func markup() async throws(JournalFailure) -> Markup {
        let services = try await collected()
        let rows = services.map { address, service -> [Markup] in
            let errors = service.errors.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" as Markup }
            return [
                "\(address)<small>\(service.names.sorted().joined(separator: ", "))</small>",
                "\(service.computations)", "\(service.requests)",
                errors.isEmpty ? Page.nothing : "<span class=\"state failed\">\(errors.joined(by: ", "))</span>",
                "\(service.polls)",
            ]
        }
        let pictures = services.prefix(8).compactMap { address, service -> Markup? in
            let histogram = Histogram(
                title: "\(address): how long its requests took", durations: service.durations, promised: nil)
            return histogram.picture.map { page.figure($0) }
        }
        let content: Markup =
            rows.isEmpty
            ? """
            <section class="empty"><h2>No service yet</h2><p>The services of documents appear here once a job talks to them.</p>\
            <pre><code>pipeline run FILE.json</code></pre></section>
            """
            : """
            <section id="services" data-live>\
            \(page.table("Services", ["Service", "Under way", "Requests", "Errors", "Polls"], rows, numeric: [1, 2, 4]))\
            <p class="hint">Requests and errors are those of the last \(Self.jobs) jobs of each pipeline; polls those of \
            its remembered jobs.</p><div class="figures">\(Array(pictures))</div></section>
            """
        return page.frame("Services", "<div class=\"head\"><h1>Services</h1></div>\(content)")
    }

    private func collected() async throws(JournalFailure) -> [(key: String, value: Service)] {
        var services: [String: Service] = [:]
        let computations = try await view.journal.computations()
        let known = Set(computations.map(\.pipeline))
        let names = known.sorted() + (try await view.journal.pipelines()).filter { !known.contains($0) }
        for name in names.prefix(Self.pipelines) {
            let jobs = try await view.journal.page(JobPageQuery(pipeline: name, limit: Self.jobs))
            for job in jobs { add(view.workspace.exchanges.records(of: job.snapshot.record.id), to: &services) }
            guard let newest = jobs.first?.snapshot.record else { continue }
            let document = try? JSONNode.parse(SourceText(name: newest.sourceName, text: newest.source)).json
            let samples = try await view.samples(of: name, at: page.now)
            for stage in document?["stages"]?.array ?? [] {
                guard let id = stage["id"]?.string, let service = stage["service"]?.string,
                    let url = document?["services"]?[service]?["url"]?.string
                else { continue }
                let address = Self.origin(url) ?? url
                services[address, default: Service()].names.insert(service)
                services[address]?.polls += samples[id]?.reduce(0) { $0 + $1.polls } ?? 0
                services[address]?.computations += computations.filter { $0.pipeline == name && $0.stage == id }
                    .reduce(0) { $0 + $1.count }
            }
        }
        return services.sorted { ($1.value.computations, $0.key) < ($0.value.computations, $1.key) }
    }

    private func add(_ exchanges: [ExchangeRecord], to services: inout [String: Service]) {
        for record in exchanges {
            guard let address = Self.origin(record.url) else { continue }
            var service = services[address] ?? Service()
            service.requests += 1
            switch record.answer?.status {
            case nil: service.errors["no response", default: 0] += 1
            case .some(let status) where status >= 400: service.errors["\(status)", default: 0] += 1
            default: break
            }
            if let total = record.answer?.timings.total { service.durations.append(total) }
            services[address] = service
        }
    }

    /// Scheme, host and port; nil for an address of which parts are computed.
    private static func origin(_ url: String) -> String? {
        let parts = URLReference(url)
        guard let scheme = parts.scheme, let authority = parts.authority, !url.contains("${{") else { return nil }
        return "\(scheme)://\(authority)"
    }
}
