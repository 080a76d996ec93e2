import JSONPath
import PipelineCore
import PipelineHTTP

/// Looks through a list, page by page if it has pages, for the entries that may be a lost submit.
struct ListSearch: Sendable {
    /// The number of pages up to which a list is looked through whose author gave no end: then nothing can be said of
    /// what was not seen.
    static let mostPages = 1000

    let requests: StageRequests
    @Indirect private(set) var list: RequestDefinition
    let items: PageItems
    let condition: Expression

    /// The result of a search.
    struct Result: Sendable {
        /// The entries for which the condition holds.
        var matches: [JSON]
        /// True if the list was seen to its end, or to where its author wants it ended.
        var isWhole: Bool
        /// The last page.
        var page: PageRequest.Page
    }

    /// Looks through the list; a search for the same submit that was broken off goes on at the page reached.
    func perform<Checkpoint>(
        for record: SubmitRecord, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Result {
        let paginate = try await context.evaluate { scope throws(EvaluationFailure) in
            try list.paginate?.resolved(in: scope)
        }
        let request = PageRequest(
            requests: requests, definition: list, paginate: paginate, content: .items(list.paginate?.items ?? items),
            unreadable: .answered)
        let limit = paginate.map { $0.maximumPages?.constant ?? Self.mostPages } ?? 1
        let key = try await key(of: record, in: context)
        let begun = requests.searches.take(key)
        var progress = begun ?? ListSearches.Progress()
        var isTakenUp = begun != nil
        while true {
            let page: PageRequest.Page
            do throws(StageFailure) {
                page = try await lookThroughPage(by: request, limit: limit, &progress, in: context)
            } catch {
                let isDefinite = if case .failed(let failed) = error { failed.kind == .definite } else { false }
                if !isDefinite { requests.searches.keep(progress, of: key) }
                guard isDefinite, isTakenUp else { throw error }
                // A cursor is good for a while only.
                isTakenUp = false
                progress = ListSearches.Progress()
                continue
            }
            isTakenUp = false
            guard progress.walk.isFinished else { continue }
            let isOpen = list.paginate != nil && list.paginate?.maximumPages == nil
            return Result(matches: progress.matches, isWhole: !(isOpen && progress.walk.isCutOff), page: page)
        }
    }

    /// Returns what tells a search from all others: of another submit, through another list, or the next look after one that
    /// found nothing.
    private func key<Checkpoint>(
        of record: SubmitRecord, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> String {
        let rendered = try await requests.render(list, in: context, role: StageRequests.look)
        let request = context.digest(rendered.digestInput)
        return "\(context.facts.job) \(record.key) \(record.sends) \(record.misses) \(request)"
    }

    /// Looks through the page that comes next, and moves on.
    private func lookThroughPage<Checkpoint>(
        by request: PageRequest, limit: Int, _ progress: inout ListSearches.Progress,
        in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> PageRequest.Page {
        if Task.isCancelled { throw .stopped }
        var next = progress
        let page = try await request.fetch(
            &next.walk, cursor: &next.cursor, in: context, role: StageRequests.look, limit: limit)
        // A page without the list is not an empty list: whatever stands in the way answered it.
        guard (list.paginate?.items ?? items).hasList(in: page.answer) else {
            let isJSON = (try? page.answer.json()) != nil
            let hint = "if the service leaves an empty list out, \"items\" ends with a question mark: \"$.jobs?\""
            let failure = requests.failure(
                "the look-up was answered without \(isJSON ? "a list at \(items.text)" : "JSON")", page.answer,
                of: page.rendered, hint: isJSON ? hint : nil, in: context)
            throw .failed(AttemptFailure(failure, kind: .answered))
        }
        for item in try entries(page, in: context) where !next.matches.contains(item) {
            let isIt = try await context.evaluate(with: { $0.item = item }) { scope throws(EvaluationFailure) in
                try condition.evaluateCondition(in: scope)
            }
            if isIt { next.matches.append(item) }
        }
        progress = next
        return page
    }

    /// The entries of a page; the list's own `items` say where a page ends, those of `match` what is looked at.
    private func entries<Checkpoint>(
        _ page: PageRequest.Page, in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> [JSON] {
        guard list.paginate?.items != nil else { return page.items }
        do throws(PageItems.Failure) {
            return try items.items(in: page.answer.with(items: .array(page.items)))
        } catch {
            throw .definite(requests.failure(error.message, page.answer, of: page.rendered, in: context))
        }
    }
}
