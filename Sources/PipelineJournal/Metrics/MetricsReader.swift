import JSONPath
import PipelineCore
import PipelineSQL

/// The numbers that metrics tell, read in one transaction: all numbers belong to one moment.
struct MetricsReader<Connection: JournalConnection>: JournalAccess {
    private let jobs: JobReader<Connection>
    var connection: Connection { jobs.connection }

    init(_ jobs: JobReader<Connection>) { self.jobs = jobs }

    /// All that was ever measured; what a later version measured besides is passed over.
    func measured() throws(JournalFailure) -> Measurements {
        var measured = Measurements()
        // The smallest of several processes first: rounded sums of what only grows, added in one order, never fall.
        let rows = try all("SELECT metric, labels, bucket, count, sum FROM metrics ORDER BY sum") {
            (row) throws(JournalFailure) in
            let labels = (try row.json("labels").array ?? []).map { $0.string ?? "" }
            let metric = Metric(rawValue: row.text("metric"))
            let series = metric.map { Measurements.Series($0, labels, bucket: row.int("bucket")) }
            return (series, Measurements.Sum(count: row.double("count"), sum: row.double("sum")))
        }
        for case (let series?, let sum) in rows { measured.add(sum, to: series) }
        return measured
    }

    /// Returns what is true now.
    func gauges(at now: Timestamp) throws(JournalFailure) -> [MetricGauge] {
        var all: [[String]: (Metric, Double)] = [:]
        func add(_ metric: Metric, _ labels: [String], _ value: Double) {
            all[[metric.rawValue] + labels, default: (metric, 0)].1 += value
        }
        let pipelines = try names("pipeline")
        for (pipeline, state) in try unfinished() {
            let name = pipelines.contains(pipeline) || pipelines.count < MetricNames.limit
            add(.jobs, [name ? pipeline : MetricNames.other, state.rawValue], 1)
        }
        let services = try names("service")
        for (service, count) in try computations() {
            let name = services.contains(service) || services.count < MetricNames.limit
            add(.computations, [name ? service : MetricNames.other], count)
        }
        for service in try jobs.closedServices() where service.opens(at: now) > now {
            let name = services.contains(service.name) || services.count < MetricNames.limit
            all[[Metric.serviceClosed.rawValue, name ? service.name : MetricNames.other]] = (.serviceClosed, 1)
        }
        for (batch, state, count) in try batchItems() { add(.batchItems, [batch, state], count) }
        if let expiry = try nextExpiry(after: now) { add(.nextExpiry, [], max(0, (expiry - now).seconds)) }
        return all.map { MetricGauge($1.0, Array($0.dropFirst()), $1.1) }
    }

    private func names(_ label: String) throws(JournalFailure) -> Set<String> {
        Set(try all("SELECT name FROM metric_names WHERE label = :label", ["label": label]) { $0.text("name") })
    }

    /// The pipeline and the state of each job that has not ended, as ``JobSnapshot/phase(isOwned:)`` has it: from counts of
    /// states alone, since there may be very many.
    private func unfinished() throws(JournalFailure) -> [(String, JobPhase)] {
        var living = LivingOwners(owners: jobs.owners)
        return try all(
            """
            SELECT pipeline, owner, boot, lease_until, CASE WHEN request = 'cancel' THEN 1 ELSE 0 END AS is_cancelled,
                count(*) FILTER (WHERE state = 'running') AS running,
                count(*) FILTER (WHERE state = 'waiting') AS waiting,
                count(*) FILTER (WHERE state = 'pending') AS pending,
                count(*) FILTER (WHERE state = 'unknown') AS unknown
            FROM jobs LEFT JOIN owners ON owners.id = jobs.owner
                LEFT JOIN steps ON steps.job = jobs.number AND state IN ('running', 'waiting', 'pending', 'unknown')
                    AND NOT (item = -1 AND EXISTS (SELECT 1 FROM steps AS items
                        WHERE items.job = steps.job AND items.stage = steps.stage AND items.item >= 0))
            WHERE jobs.ended IS NULL AND NOT EXISTS (SELECT 1 FROM batches WHERE batches.job = jobs.number)
            GROUP BY jobs.number, boot, lease_until
            """
        ) { row in
            let isOwned = OwnerLease(row).flatMap { living.owner($0) } != nil
            let awaits = row.flag("waiting") || row.flag("pending")
            let owned: JobPhase = row.flag("is_cancelled") || row.flag("running") || !awaits ? .running : .waiting
            let canGoOn = row.flag("running") || row.flag("waiting")
            let ownerless: JobPhase = row.flag("unknown") && !canGoOn ? .unknown : .suspended
            return (row.text("pipeline"), isOwned ? owned : ownerless)
        }
    }

    /// Returns how many remote jobs each service has, by the names that documents give to services. A plus keeps SQLite
    /// from beginning with the steps of all jobs: those that have not ended are few.
    private func computations() throws(JournalFailure) -> [(String, Double)] {
        let found = try all(
            """
            SELECT document, submits.stage AS stage, count(*) AS count
            FROM jobs JOIN submits ON submits.job = +jobs.number
                JOIN steps ON steps.job = +jobs.number AND steps.stage = submits.stage AND steps.item = submits.item
            WHERE jobs.ended IS NULL AND (phase = 'sending' OR phase = 'submitted' OR phase = 'unknown')
                AND (state = 'running' OR state = 'waiting' OR state = 'unknown')
            GROUP BY document, submits.stage
            """
        ) { ($0.integer("document"), $0.text("stage"), $0.double("count")) }
        var services: [Int64: [String: String]] = [:]
        var counts: [(String, Double)] = []
        for (document, stage, count) in found {
            if services[document] == nil { services[document] = try stageServices(of: document) }
            counts.append((services[document]?[stage] ?? MetricNames.none, count))
        }
        return counts
    }

    private func stageServices(of document: Int64) throws(JournalFailure) -> [String: String] {
        let source =
            try first("SELECT source FROM documents WHERE number = :number", ["number": document]) { $0.text("source") }
        guard let source, let json = try? JSON.parse(Array(source.utf8)) else { return [:] }
        var services: [String: String] = [:]
        for stage in (json["stages"]?.array ?? []) + (json["finally"]?.array ?? []) {
            if let id = stage["id"]?.string, let service = stage["service"]?.string { services[id] = service }
        }
        return services
    }

    /// The items of batches: of the newest by the batch's key, of all others together.
    private func batchItems() throws(JournalFailure) -> [(String, String, Double)] {
        let states = ItemRecord.State.allCases
        let rows = try all(
            """
            SELECT job, jobs.key AS key, pending, running, suspended, unknown, succeeded, failed, cancelled, duplicate
            FROM batches JOIN jobs ON jobs.number = batches.job ORDER BY batches.job DESC
            """
        ) { row in
            let counts = states.filter(\.isKept).map { ($0, row.int($0.rawValue)) }
            return (row.integer("job"), row.text("key"), Dictionary(uniqueKeysWithValues: counts))
        }
        let living = try jobs.livingOwners()
        var items: [(String, String, Double)] = []
        for (place, row) in rows.enumerated() {
            var counts = row.2
            try jobs.tellApart(&counts, of: row.0, living)
            let name = place < MetricNames.limit ? row.1 : MetricNames.other
            items += states.map { (name, $0.rawValue, Double(counts[$0] ?? 0)) }
        }
        return items
    }

    private func nextExpiry(after now: Timestamp) throws(JournalFailure) -> Timestamp? {
        try first(
            """
            SELECT min(expires) AS expires FROM jobs JOIN steps ON steps.job = +jobs.number
            WHERE jobs.ended IS NULL AND expires > :now
            """, ["now": now]
        ) { $0.optionalTime("expires") } ?? nil
    }
}
