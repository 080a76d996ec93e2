import PipelineHTTP

struct Release: Model {
    let name: String
    let file: String
}

struct ListReleases: RequestTemplate {
    let project: String
    var path: String { "/projects/\(project)/releases" }
    typealias Output = [Release]
}

struct PostNote: RequestTemplate {
    struct Note: Model {
        var id: Int?
        var text: String
    }

    let note: Note
    var method: HTTPRequest.Method { .post }
    var path: String { "/notes" }
    var headers: HTTPFields { [.contentType: "application/json"] }
    var body: RequestBody { get throws(RequestFailure) { try .json(note) } }
    typealias Output = Note
}

struct FetchFile: RequestTemplate {
    let path: String
    typealias Output = Empty
}

let (address, token) = (CommandLine.arguments[1], CommandLine.arguments[2])
let network = Network(transport: CurlTransport(), baseURL: address, decorators: [Bearer(token: token)])

do {
    var releases: [Release] = []
    for try await page in network.pages(of: ListReleases(project: "demo").paginated(by: .link)) { releases += page }
    print("\(releases.count) releases")

    let note = try await network.send(PostNote(note: .init(text: "hello")).idempotent("note-1"))
    print("note \(note.id ?? 0)")

    guard let newest = releases.first else { throw ConversionFailure("there is no release") }
    let task = network.task(FetchFile(path: newest.file), to: newest.name)
    let answer = try await task.value
    print("status \(answer.status), \(task.progress.received) bytes of \(newest.name)")
} catch let error as StatusCodeError {
    print("\(error.title). \(error.hint)")
} catch let failure as ExchangeFailure {
    print(failure.message)
}
