import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// A request with its values put in, secrets included: made just before it is sent, kept nowhere.
struct RenderedRequest: Sendable {
    var description: RequestDescription
    /// From the inside out: the request's, the stage's, its service's, the pipeline's.
    var decorators: [any RequestDecorator]
    @Indirect var options: ExchangeOptions
    /// The idempotency key for decorators that want one.
    var key: String
    @Indirect private(set) var definition: RequestDefinition
    /// The purpose of the request, where that is not what its step is about.
    var role: String?
    /// True if another attempt begins with its first byte, or its response's, again: a time-out while these move is no
    /// silence, as the same bytes take as long the next time.
    var beginsAgain = false
    /// The secrets that it was made with.
    var secrets: [String: String] = [:]
    /// True if it would have had credentials at another origin.
    var withholdsCredentials = false
    /// The account that asks, where its credentials are made from captures: with these by their names. It is a secret, too.
    var lastingAccount: String?
    /// The place where the entries of a list stand in the response; nil when it is no list.
    var items: PageItems?

    init(
        description: RequestDescription, decorators: [any RequestDecorator], options: ExchangeOptions, key: String,
        definition: RequestDefinition
    ) {
        self.description = description
        self.decorators = decorators
        self.options = options
        self.key = key
        self.definition = definition
    }

    /// A request that was answered, for messages, and for the rules of a definition to judge its answer.
    init(sent method: HTTPRequest.Method, to url: String, judgedBy definition: RequestDefinition) {
        self.init(
            description: RequestDescription(method: method, url: url), decorators: [], options: ExchangeOptions(),
            key: "", definition: definition)
    }

    /// Method and URL for people, without the query, which may hold what nobody knows to be secret.
    var line: String {
        let url = description.url
        let bare = url.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        let hasQuery = bare.endIndex < url.endIndex || !description.query.isEmpty
        return "\(description.method.rawValue) \(Self.withoutUser(String(bare)))\(hasQuery ? "?…" : "")"
    }

    /// The bytes of which a submit's digest is made: everything that the service would tell two submits apart by.
    var digestInput: [UInt8] {
        var bytes = Array("\(description.method.rawValue) \(description.url)\n".utf8)
        for (name, value) in description.query { bytes += Array("\(name)=\(value)\n".utf8) }
        for segment in description.body.segments + forms.map(\.content) {
            switch segment {
            case .bytes(let content): bytes += content
            case .file(let path, let offset, let length): bytes += Array("\(path) \(offset) \(length)\n".utf8)
            case .gzip(let content): bytes += Array("\(content.source) \(content.length)\n".utf8)
            case .base64(let path, let fileSize): bytes += Array("\(path) base64 \(fileSize)\n".utf8)
            case .lines(let path, let length): bytes += Array("\(path) lines \(length)\n".utf8)
            }
        }
        return bytes
    }

    /// The bytes by which requests of several jobs are told apart: of what goes out to the service, decorated, without
    /// credentials and without what differs for each job. What a program would add is given by its configuration; it is
    /// not asked. Nil for a request that can't be made.
    func shapeDigestInput() async -> [UInt8]? {
        var shaped = self
        var programs: [UInt8] = []
        // Of no job and at no time: a decorator that reads these makes the same of them for all.
        let nobody = DecorationContext(
            key: "shape", time: { .zero }, randomBytes: { [UInt8](repeating: 0, count: $0) })
        for decorator in decorators where decorator.phase == .shape {
            if let program = decorator as? ProgramDecorator {
                programs += Array("\(program.program.name) \(program.configuration.text)\n".utf8)
                continue
            }
            do throws(RequestFailure) {
                try await decorator.decorate(&shaped.description, in: nobody)
            } catch {
                return nil
            }
        }
        var bytes = shaped.digestInput + programs
        for field in shaped.description.headers
        where field.name != .traceparent && !shaped.description.isCredential(field.name) {
            bytes += Array("\(field.name.canonicalName)=\(field.value)\n".utf8)
        }
        // A certificate says who asks, as a credential does.
        return bytes + Array("\(options.tls.certificate ?? "")\n".utf8)
    }

    /// Returns whether redirects led the request to an origin that its credentials do not belong to.
    func lostCredentials(on answer: ServiceResponse) -> Bool {
        let hasCredentials =
            !description.credentialFields.isEmpty || decorators.contains { $0 is any CredentialDecorator }
        return hasCredentials && definition.credentials == .service
            && URLParts(answer.url)?.origin != URLParts(description.url)?.origin
    }

    /// The parts of the form that decorators make of it.
    private var forms: [MultipartBody.Part] { decorators.flatMap { ($0 as? Multipart)?.parts ?? [] } }

    /// The digests of the local files that are sent, in their order, each on a line; empty when there are none. Files that
    /// expressions read are not among them: the job holds on to their state by itself.
    func fileDigests() throws(StepFailure) -> [UInt8] {
        var lines: [UInt8] = []
        for file in files {
            lines += Array("\(try FileDigest.hex(.sha256, of: file.path, in: file.stretch))\n".utf8)
        }
        return lines
    }

    /// The local files that are sent, and which bytes of them.
    var files: [(path: String, stretch: Range<Int64>)] {
        (description.body.segments + forms.map(\.content)).compactMap { segment in
            guard case .file(let path, let offset, let length) = segment else { return nil }
            return (path, offset..<offset + length)
        }
    }

    /// Throws when a file that is sent is not what expressions have said of it. Of a submit that may have arrived, what
    /// becomes of it is looked at first.
    func checkFiles<Checkpoint>(
        in context: StageContext<Checkpoint>, service: String?
    ) async throws(StageFailure) {
        let files = files
        if files.isEmpty { return }
        if await context.hasOpenSubmit { return }
        // That one is gone is told when it is sent.
        let states = files.compactMap { file in SourceFingerprint.text(ofFileAt: file.path).map { (file.path, $0) } }
        try await context.checkSent(Dictionary(states) { $1 }, service: service)
    }

    /// The facts that decorators may know besides the request, as it goes out over a network.
    func decoration<Checkpoint>(over network: Network, in context: StageContext<Checkpoint>) -> DecorationContext {
        var decoration = network.context
        decoration.key = key
        decoration.attempt = context.facts.attempt
        decoration.boundarySalt = { [key] in context.digest(Array("boundary \(key)".utf8)) }
        return decoration
    }

    /// Leaves out the decorators by which an earlier response would come again where it is of no use: that to a question
    /// knows nothing of what became of it since, be it kept here or there, under a key; and that of an earlier attempt may
    /// be the one that did not do.
    mutating func leaveOutEarlierResponses<Checkpoint>(in context: StageContext<Checkpoint>) async {
        if role == StageRequests.look || role == ExchangeRecord.poll {
            decorators.removeAll { $0 is IdempotencyKey || $0 is Cache }
        } else if decorators.contains(where: { $0 is Cache }), await context.isTriedAgain {
            for (place, decorator) in decorators.enumerated() {
                if let cache = decorator as? Cache { decorators[place] = cache.revalidating }
            }
        }
    }

    private static func withoutUser(_ url: String) -> String {
        guard url.utf8.contains(UInt8(ascii: "@")) else { return url }
        let scalars = url.unicodeScalars
        guard let start = scalars.firstRange(of: "://".unicodeScalars)?.upperBound else { return url }
        let authority = scalars[start...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(url[..<start] + url[scalars.index(after: at)...])
    }
}
