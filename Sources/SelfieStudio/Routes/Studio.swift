import Crypto
import FoundationEssentials
import HTTPTypes

/// The service behind the connections: takes whole requests and complete uploads, gives answers.
final class Studio: Sendable {
    /// A body other than a video may have this many bytes.
    static let longestBody = 64 * 1024

    let settings: StudioSettings
    let library: VideoLibrary
    let ledger: ModelLedger
    let statistics = Statistics()
    let faults: FaultPlan
    private let queue: AsyncStream<String>
    private let waiting: AsyncStream<String>.Continuation
    private let makeID: @Sendable () -> String

    /// Opens the data folder; models that an earlier run did not finish are queued again, in their old order.
    /// - Parameter makeID: gives each model a name that no other has.
    init(_ settings: StudioSettings, makeID: @escaping @Sendable () -> String) throws {
        self.settings = settings
        self.makeID = makeID
        library = try VideoLibrary(dataFolder: settings.dataFolder)
        ledger = try ModelLedger(dataFolder: settings.dataFolder)
        faults = FaultPlan(settings)
        (queue, waiting) = AsyncStream.makeStream()
        for record in ledger.all where !record.isOver { waiting.yield(record.id) }
    }

    /// Computes models until the task is cancelled.
    func work() async {
        await ModelWorker(ledger: ledger, library: library, statistics: statistics, settings: settings).run(queue)
    }

    /// Answers a request whose body is not a video.
    func respond(to request: HTTPRequest, body: [UInt8]) async -> Answer {
        do {
            let answer = try await answer(request, body: body)
            return request.method == .head ? answer.withoutBody : answer
        } catch let problem as Problem {
            return Answer(problem)
        } catch {
            return Answer(Problem(status: .internalServerError, detail: "\(error)"))
        }
    }

    /// Keeps a video whose upload is complete.
    /// - Parameters:
    ///   - upload: its number in the counters.
    ///   - name: the NAME of `PUT /videos/NAME`.
    func keep(_ received: ReceivedVideo, upload: Int, name: String?) -> Answer {
        do {
            let video = try library.accept(received, name: name)
            statistics.upload(upload, became: video.id)
            return Answer(.created, json: video, fields: [.location: "/videos/\(video.id)"])
        } catch {
            return Answer(Problem(status: .init(code: 507), detail: "the video can't be kept: \(error)"))
        }
    }

    private func answer(_ request: HTTPRequest, body: [UInt8]) async throws -> Answer {
        guard let route = Route(path: request.path) else { throw Problem.notFound("there is no such resource") }
        guard route.methods.contains(request.method) else { throw Problem.methodNotAllowed(route.methods) }
        if request.method == .options {
            return Answer(.noContent, fields: [.allow: route.methods.map(\.rawValue).joined(separator: ", ")])
        }
        switch (route, request.method) {
        case (.models, .post): return try await submit(request, body: body)
        case (.model(let id), .delete): return try cancel(id)
        case (.health, _): return Answer(.ok, json: ["status": "ok"])
        case (.stats, _): return Answer(.ok, json: statistics.counters)
        case (.videos, _): return Answer(.ok, json: ["videos": library.all])
        case (.video(let id), _): return Answer(.ok, json: try video(id))
        case (.models, _): return Answer(.ok, json: ["models": ledger.all.map(view)])
        case (.model(let id), _): return Answer(.ok, json: view(try model(id)), fields: [.cacheControl: "no-store"])
        case (.file(let id, let file), _): return try answer(with: file, of: id, request)
        }
    }

    private func video(_ id: String) throws -> Video {
        guard let video = library.video(id) else { throw Problem.notFound("there is no video \(id)") }
        return video
    }

    private func model(_ id: String) throws -> ModelRecord {
        guard let record = ledger.record(id) else { throw Problem.notFound("there is no model \(id)") }
        return record
    }

    private func cancel(_ id: String) throws -> Answer {
        guard try ledger.cancel(id) else { throw Problem.notFound("there is no model \(id)") }
        return Answer(.noContent)
    }

    private func answer(with file: ModelFile, of id: String, _ request: HTTPRequest) throws -> Answer {
        guard let written = try model(id).files[file] else {
            throw Problem.notFound("the model \(id) has no \(file.rawValue)")
        }
        if request.method == .get, file == .mesh { statistics.resultRequested(id) }
        let path = ledger.path(of: file, id)
        return FileAnswer(model: id, file: file, path: path, sha256: written.sha256, size: written.bytes)
            .answer(request)
    }

    private func view(_ record: ModelRecord) -> ModelView {
        let progress = ledger.progress(record.id)
        let left = progress?.end.map { max(0, ($0 - ContinuousClock.now) / .seconds(1)) }
        return ModelView(
            id: record.id,
            state: record.state,
            video: record.video,
            quality: record.quality.rawValue,
            percent: record.state == .done ? 100 : Int((progress?.share ?? 0) * 100),
            etaSeconds: record.state == .done ? 0 : left.map { Int($0.rounded()) },
            result: result(of: record),
            message: record.message
        )
    }

    private func result(of record: ModelRecord) -> ModelView.Result? {
        func link(_ file: ModelFile) -> ModelView.Link? {
            record.files[file].map {
                .init(url: "/models/\(record.id)/\(file.rawValue)", sha256: $0.sha256, bytes: $0.bytes)
            }
        }
        guard let mesh = link(.mesh) else { return nil }
        return ModelView.Result(
            url: mesh.url, sha256: mesh.sha256, bytes: mesh.bytes, preview: link(.preview), page: link(.page))
    }
}

extension Studio {
    /// The body of `POST /models`.
    private struct Order: Decodable {
        var video: String
        var quality: String?
    }

    /// The answer to it: the same for each request with the same key.
    private struct Receipt: Encodable {
        var id: String
        var state = ModelState.queued
    }

    private func submit(_ request: HTTPRequest, body: [UInt8]) async throws -> Answer {
        statistics.count(\.modelRequests)
        let digest = SHA256.hash(data: body).hex
        let key = request.headerFields[.idempotencyKey]
        if let key, let record = try repeated(key, digest) { return receipt(record) }
        do {
            let (video, quality) = try order(body)
            if settings.submitSeconds > 0 { try await Task.sleep(for: .seconds(settings.submitSeconds)) }
            let record = try ledger.add(id: makeID(), video: video, quality: quality, key: key, bodyDigest: digest)
            statistics.count(\.modelsSubmitted)
            waiting.yield(record.id)
            return receipt(record)
        } catch {
            if let key { ledger.release(key) }
            throw error
        }
    }

    /// - Returns: the model that the key made, or nil if the key is claimed for this request now.
    private func repeated(_ key: String, _ digest: String) throws -> ModelRecord? {
        switch ledger.claim(key, bodyDigest: digest) {
        case .granted: return nil
        case .repeated(let record): return record
        case .mismatched: throw Problem.unprocessable("this Idempotency-Key came with another body before")
        case .pending:
            var problem = Problem.conflict("the first request with this Idempotency-Key is still being handled")
            problem.fields[.retryAfter] = "1"
            throw problem
        }
    }

    private func order(_ body: [UInt8]) throws -> (video: String, quality: ModelQuality) {
        guard let order = try? JSONDecoder().decode(Order.self, from: Data(body)) else {
            throw Problem.badRequest("the body must be {\"video\": ID, \"quality\": \"draft\" or \"full\"}")
        }
        guard library.video(order.video) != nil else {
            throw Problem.unprocessable("there is no video \(order.video)")
        }
        guard let quality = ModelQuality(rawValue: order.quality ?? "full") else {
            throw Problem.unprocessable("the quality is draft or full")
        }
        return (order.video, quality)
    }

    private func receipt(_ record: ModelRecord) -> Answer {
        var answer = Answer(.accepted, json: Receipt(id: record.id), fields: [.location: "/models/\(record.id)"])
        answer.isLost = faults.losesAnswer()
        return answer
    }
}
