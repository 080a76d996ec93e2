import JSONPath
import PipelineCore
import PipelineKit
import PipelinePictures

/// The services that documents talk to: which are closed, what is under way there, and how requests went.
struct ServicesPage {
    /// The knowledge of one service, over all documents that name it by the same address.
    private struct Service {
        var names: Set<String> = []
        var computations = 0
        /// The numbers of them that documents allow at a time.
        var limits: Set<Int> = []
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
                "\(address)<small>\(service.names.sorted().joined(separator: ", "))</small>", underWay(service),
                "\(service.requests)",
                errors.isEmpty ? Page.nothing : "<span class=\"state failed\">\(errors.joined(by: ", "))</span>",
            ]
        }
        let counts = try await counted()
        let closed = ClosedServices(try await view.journal.closedServices(), page).markup
        let pictures = services.prefix(8).compactMap { address, service -> Markup? in
            let histogram = Histogram(
                title: "\(address): how long its requests took", durations: service.durations, promised: nil)
            return histogram.picture.map { page.figure($0) }
        }
        let table = page.table(
            "Services now", ["Service", "Under way", "Last requests", "Errors among them"], rows, numeric: [1, 2])
        let now: Markup =
            rows.isEmpty
            ? ""
            : """
            \(table)<p class="hint">Last requests are those of the last \(Self.jobs) jobs of each pipeline.</p>\
            <div class="figures">\(Array(pictures))</div>
            """
        let content: Markup =
            rows.isEmpty && counts.isEmpty && closed.isEmpty
            ? """
            <section class="empty"><h2>No service yet</h2><p>The services of documents appear here once a job talks to them.</p>\
            <pre><code>pipeline run FILE.json</code></pre></section>
            """
            : """
            \(page.section("Closed for now", closed, id: "closed"))\
            \(page.section("Now", now, id: "services"))\
            \(page.section("Since the journal began", counts, id: "counted"))
            """
        return page.frame("Services", "<div class=\"head\"><h1>Services</h1></div>\(content)")
    }

    /// Returns how many remote jobs there are, of how many that documents allow.
    private func underWay(_ service: Service) -> Markup {
        guard let least = service.limits.min(), let most = service.limits.max() else {
            return "\(service.computations)"
        }
        let limit: Markup = least == most ? "\(most)" : "\(least) to \(most)"
        return "\(service.computations)<small>of \(limit)</small>"
    }

    /// Returns what the journal counts by the names that documents give to services; nothing of a journal that counts
    /// nothing.
    private func counted() async throws(JournalFailure) -> Markup {
        struct Counts {
            var requests = 0.0
            var seconds = 0.0
            var answers: [String: Double] = [:]
            var polls: [String: Double] = [:]
            var bytes: [String: Double] = [:]
        }
        var services: [String: Counts] = [:]
        for (series, sum) in try await view.journal.measured().sums {
            guard let name = series.labels.first else { continue }
            switch series.metric {
            case .requestDuration:
                services[name, default: Counts()].requests += sum.count
                services[name]?.seconds += sum.sum
                services[name]?.answers[series.labels[2], default: 0] += sum.count
            case .polls: services[name, default: Counts()].polls[series.labels[1], default: 0] += sum.sum
            case .transferredBytes: services[name, default: Counts()].bytes[series.labels[1], default: 0] += sum.sum
            default: break
            }
        }
        func number(_ value: Double?) -> Markup {
            value.map { $0 > 0 ? "\(JobsPage.number(Int($0)))" : Page.nothing } ?? Page.nothing
        }
        func bytes(_ value: Double?) -> Markup { page.bytes(Int64(value ?? 0)) }
        let rows = services.sorted { $0.key < $1.key }.map { name, counts -> [Markup] in
            [
                "\(name)", number(counts.requests), number(counts.answers["4xx"]), number(counts.answers["5xx"]),
                number(counts.answers["none"]),
                counts.requests > 0 ? "\(DurationText.fine(counts.seconds / counts.requests))" : Page.nothing,
                number(counts.polls["single"]), number(counts.polls["list"]), bytes(counts.bytes["sent"]),
                bytes(counts.bytes["received"]),
            ]
        }
        return page.table(
            "Services since the journal began",
            [
                "Service", "Requests", "4xx", "5xx", "No response", "Each took", "Polls", "List polls", "Sent",
                "Received",
            ], rows, numeric: [1, 2, 3, 4, 5, 6, 7, 8, 9])
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
            for stage in document?["stages"]?.array ?? [] {
                guard let id = stage["id"]?.string, let service = stage["service"]?.string,
                    let url = document?["services"]?[service]?["url"]?.string
                else { continue }
                let address = Self.origin(url) ?? url
                services[address, default: Service()].names.insert(service)
                if let limit = document?["services"]?[service]?["limits"]?["computations"]?.number?.int {
                    services[address]?.limits.insert(limit)
                }
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
