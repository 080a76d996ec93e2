import JSONPath
import PipelineCore
import PipelineHTTP

/// One try of a request with pages: fetches them one after the other, each a checkpoint.
///
/// A page is fetched again when the process dies before it is committed: each is at once, and in a long list without a
/// file at the latest when the try ends. Items without a file are kept in the checkpoint, and only when a capture reads
/// them.
struct PagedRun {
    /// The most bytes of items that are kept without a file.
    static let mostKept = 8 << 20
    /// Up to here each page is committed with all items; beyond, when they have grown by a quarter, and when the try
    /// ends.
    private static let smallCheckpoint = 256 << 10

    let stage: RequestStage
    @Indirect private(set) var paginate: PaginateDefinition
    let context: RequestStage.Context
    private var checkpoint: PagingCheckpoint
    private var file: ItemFile?
    private var kept: [UInt8] = []
    private var keptItems: [JSON] = []
    private var committedBytes = 0
    /// True if pages came since the last commit.
    private var hasUncommitted = false
    /// True if some of these are more than ever had come.
    private var hasProgressed = false
    private var received: Int64 = 0

    init(
        _ stage: RequestStage, _ paginate: PaginateDefinition, from checkpoint: PagingCheckpoint?,
        in context: RequestStage.Context
    ) {
        self.stage = stage
        self.paginate = paginate
        self.context = context
        self.checkpoint = checkpoint ?? PagingCheckpoint()
    }

    private var keepsItems: Bool { stage.to == nil && stage.capture.entries.contains { $0.selector.readsItems } }

    mutating func perform(_ content: PageContent) async throws(StageFailure) -> StageOutcome<RequestStage.Checkpoint> {
        if checkpoint.isWhole, try await finishNaming() { return .finished(path) }
        let before = checkpoint
        let request = try await followRequest()
        try await openPosition()
        try await takeUp()
        checkpoint.request = request
        checkpoint.course = paginate.course
        checkpoint.farthest = max(before.farthest ?? 0, before.walk.pages)
        let written = paginate
        let paginate = try await context.evaluate { scope throws(EvaluationFailure) in
            try written.resolved(in: scope)
        }
        let page = PageRequest(
            requests: stage.requests, definition: stage.definition, paginate: paginate, content: content)
        while true {
            var walk = checkpoint.walk
            var cursor = checkpoint.cursor.flatMap { try? JSON.parse($0) }
            let answer: PageRequest.Page
            do throws(StageFailure) {
                if Task.isCancelled { throw .stopped }
                answer = try await page.fetch(
                    &walk, cursor: &cursor, in: context, limit: paginate.maximumPages?.constant)
            } catch {
                try await commitPages(isEnd: true)
                throw error
            }
            try keep(answer)
            if walk.pages == 1, answer.count == 0, let items = paginate.items, !items.hasList(in: answer.answer) {
                try await context.warn("the first page has no list at \(items.text): no items are taken from it")
            }
            if walk.pages == 2, walk.hasOnlyEquals {
                try await context.warn(
                    "the first two pages are the same: the service may not know the parameter that asks for a page")
            }
            checkpoint.walk = walk
            checkpoint.cursor = cursor.flatMap { $0.string == nil ? $0.text : nil }
            if walk.isFinished { return .finished(try await finish(answer).merging(path)) }
            hasUncommitted = true
            try await commitPages()
        }
    }

    /// The file's path as the capture `path`.
    private var path: JSONObject {
        guard let target = checkpoint.target, !stage.capture.names.contains("path") else { return [:] }
        return ["path": .string(target)]
    }

    // MARK: Beginning

    /// A page belongs to the list that its request asks for: another one, with a fresh link or id in it, begins with its
    /// first page. What decorators add, such as a token, does not make it another. Where a URL leads on, a secret in a
    /// parameter of the query does, for that URL may repeat it; else that counts by its name. Returns the digest of the
    /// request.
    private mutating func followRequest() async throws(StageFailure) -> String {
        var rendered = try await stage.requests.render(stage.definition, in: context)
        if paginate.rule != .url {
            rendered.description.query = rendered.description.query.map { ($0.name, context.redact($0.value)) }
        }
        let request = context.digest(rendered.digestInput)
        if checkpoint.walk.pages > 0, let begun = checkpoint.request, begun != request {
            try await beginAgain(because: "the request is another one since its first page came")
        } else if checkpoint.walk.pages > 0, let begun = checkpoint.course, begun != paginate.course {
            try await beginAgain(because: "\"paginate\" is another one since the first page came")
        }
        return request
    }

    /// Opens the next URL or cursor, where it was sealed. Without the secret in it as it was then nothing leads to the next
    /// page.
    private mutating func openPosition() async throws(StageFailure) {
        guard let target = checkpoint.walk.target else { return }
        if let opened = await context.opened(target) {
            checkpoint.walk.target = opened
            guard let cursor = checkpoint.cursor else { return }
            checkpoint.cursor = await context.opened(cursor)
            if checkpoint.cursor != nil { return }
        }
        try await beginAgain(because: "a secret is another one than in the address of the next page")
    }

    /// Gives up the pages that had come.
    private mutating func beginAgain(because reason: String) async throws(StageFailure) {
        try await context.warn(
            "\(reason): the \(checkpoint.walk.pages) pages that had come are of no use and come again")
        checkpoint = PagingCheckpoint()
    }

    /// Opens what an earlier try has left; what is not provably ours is begun again.
    private mutating func takeUp() async throws(StageFailure) {
        if let to = stage.to {
            let target = try await context.outputFile(to)
            if checkpoint.target == target, checkpoint.walk.pages > 0, let path = checkpoint.partPath {
                file = try ItemFile(
                    resuming: path, length: checkpoint.length, digest: checkpoint.digest, in: context)
            }
            if let file, !file.part.hasOtherNames { return }
            file = nil
            let new = try ItemFile(of: target, in: context)
            checkpoint = PagingCheckpoint(target: target, part: new.part.path)
            file = new
        } else if keepsItems {
            kept = Array((checkpoint.kept ?? "").utf8)
            committedBytes = kept.count
            for line in kept.split(separator: UInt8(ascii: "\n")) {
                guard let item = try? JSON.parse(Array(line)) else { return startAgain() }
                keptItems.append(item)
            }
            if keptItems.count != checkpoint.walk.items { startAgain() }
        }
    }

    private mutating func startAgain() {
        checkpoint = PagingCheckpoint()
        kept = []
        keptItems = []
        committedBytes = 0
    }

    // MARK: One page

    private mutating func keep(_ page: PageRequest.Page) throws(StageFailure) {
        context.count(BytesMoved(received: page.bytesReceived))
        let isFarther = checkpoint.walk.pages >= checkpoint.farthest ?? 0
        hasProgressed = hasProgressed || isFarther && page.bytesReceived > 0
        received += page.bytesReceived
        context.report(.transfer(sent: 0, received: received, total: nil))
        if file != nil {
            try ResultFile.reading(in: context) { () throws(FileFailure) in try file?.append(page.lines) }
        } else if keepsItems {
            kept += page.lines
            keptItems += page.items
            guard kept.count > Self.mostKept else { return }
            throw .definite(
                StepFailure(
                    "the items of \(checkpoint.walk.pages + 1) pages have more than \(SizeText.describe(Int64(Self.mostKept)))",
                    hint: "\"to\" writes any number of them to a file, as JSON Lines",
                    service: stage.requests.service?.name, place: context.facts.place))
        }
    }

    /// - Parameter isEnd: true if the try ends before another page: the next one goes on after those that came.
    private mutating func commitPages(isEnd: Bool = false) async throws(StageFailure) {
        // The whole list stands in each checkpoint: committed for every page, a long one would be written over and over.
        let isWorthIt = isEnd || kept.count <= Self.smallCheckpoint || kept.count >= committedBytes + committedBytes / 4
        // Items of which a capture is secret are not kept: after a crash the page that was committed last is the one to go on
        // at.
        let areSecret = keepsItems && stage.capture.secrets.contains(where: \.selector.readsItems)
        guard hasUncommitted, isWorthIt, !areSecret else { return }
        try await commit()
    }

    /// Commits, unless the next URL or cursor repeats something secret that can't be sealed.
    private mutating func commit(captures: JSONObject? = nil) async throws(StageFailure) {
        guard let next = await sealedPosition() else { return }
        if let file {
            checkpoint.length = file.length
            checkpoint.digest = file.digest
        } else if keepsItems, !checkpoint.isWhole {
            checkpoint.kept = String(decoding: kept, as: UTF8.self)
        }
        var sealed = checkpoint
        sealed.walk.target = next.target
        sealed.cursor = next.cursor
        try await context.commit(
            RequestStage.Checkpoint(paging: sealed), captures: captures, progressed: hasProgressed)
        hasUncommitted = false
        hasProgressed = false
        committedBytes = kept.count
    }

    /// Returns what leads to the next page as it may be kept; nil when it can't be.
    private func sealedPosition() async -> (target: String?, cursor: String?)? {
        var sealed: (target: String?, cursor: String?) = (nil, nil)
        if let target = checkpoint.walk.target {
            guard let text = await context.sealed(target) else { return nil }
            sealed.target = text
        }
        if let cursor = checkpoint.cursor {
            guard let text = await context.sealed(cursor) else { return nil }
            sealed.cursor = text
        }
        return sealed
    }

    // MARK: The end

    private mutating func finish(_ page: PageRequest.Page) async throws(StageFailure) -> JSONObject {
        let last = page.answer.with(items: keepsItems ? .array(keptItems) : nil)
        let captures = try captures(of: last, page.rendered)
        checkpoint.isWhole = true
        // Where the last page was is of no use any more, and may hold a secret.
        checkpoint.walk = PageWalk()
        checkpoint.cursor = nil
        checkpoint.kept = nil
        try await commit(captures: captures)
        if let file { try await name(file.part) }
        return captures
    }

    /// A capture that finds several values in the last page is most likely to be of the items of all pages.
    private func captures(
        of last: ServiceResponse, _ rendered: RenderedRequest
    ) throws(StageFailure) -> JSONObject {
        do throws(CaptureFailure) {
            return try stage.capture.values(in: last)
        } catch {
            let entry = stage.capture.entries.first { $0.name == error.capture && $0.selector.readsBody }
            let advice = error.isOfSeveral ? entry.map { paginate.advice(for: $0.selector) } : nil
            throw .definite(
                stage.requests.failure(
                    error.sentence, last, of: rendered, hint: advice ?? error.hint, in: context))
        }
    }

    private func name(_ part: PartFile) async throws(StageFailure) {
        guard let target = checkpoint.target, let digest = checkpoint.digest else { return }
        let written = WrittenFile(path: target, bytes: checkpoint.length, sha256: digest)
        try await ResultFile.name(part, as: written, keepsPart: true, in: context)
    }

    /// Goes on after a crash that came after the last page. False when the file is nowhere: then all is fetched again.
    private mutating func finishNaming() async throws(StageFailure) -> Bool {
        guard let target = checkpoint.target, let path = checkpoint.partPath else { return true }
        if let file = try ItemFile(
            resuming: path, length: checkpoint.length, digest: checkpoint.digest, in: context)
        {
            try await name(file.part)
            return true
        }
        let written = WrittenFile(path: target, bytes: checkpoint.length, sha256: checkpoint.digest ?? "")
        if try ResultFile.isThere(written, in: context) {
            try await context.commit(file: written)
            return true
        }
        checkpoint = PagingCheckpoint()
        return false
    }
}
