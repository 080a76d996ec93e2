import CAssets
import JSONPath
import PipelineCore
import PipelineKit
import PipelinePictures
import PipelineServer

/// The pages over a journal: a listener of its own, and what it answers. It holds no job and no secret.
package final class Dashboard: Sendable {
    private let options: DashboardOptions
    private let guardian: RequestGuard
    private let sessions = Sessions()
    private let streams: ChangeStreams
    private let view: JobView
    private let actions: (any JobActions)?
    private let metrics: (@Sendable (IncomingRequest) async -> DashboardResponse)?
    private let clock = SystemClock()

    /// - Parameters:
    ///   - port: the one that it is listened on.
    ///   - metrics: what `/metrics` answers to those who were let in.
    init(
        _ workspace: Workspace, journal: Workspace.Journal, options: DashboardOptions, host: String, port: Int,
        actions: (any JobActions)?, metrics: (@Sendable (IncomingRequest) async -> DashboardResponse)? = nil
    ) throws(JournalFailure) {
        self.options = options
        self.actions = options.allowsActions ? actions : nil
        self.metrics = metrics
        let isLoopback = ["127.0.0.1", "::1", "localhost", "0.0.0.0", "::"].contains(host)
        guardian = RequestGuard(
            name: try workspace.dashboardName(), port: port, boundHost: isLoopback ? nil : host,
            allowedHosts: options.allowedHosts, token: options.token)
        streams = ChangeStreams(journal: journal)
        view = JobView(workspace, journal)
    }

    /// A link that signs in who opens it first.
    func link() -> String {
        let host = options.allowedHosts.first.map { "https://\($0)" } ?? "http://\(guardian.ownHost)"
        return "\(host)\(options.basePath)/sign-in?key=\(sessions.makeLink(at: clock.now))"
    }

    /// The address without a sign-in.
    var address: String { "http://\(guardian.ownHost)\(options.basePath)/" }

    /// Answers a request, and says whether the one who sent it was let in.
    func answer(_ request: IncomingRequest) async -> (response: DashboardResponse, isKnown: Bool) {
        var (response, isKnown) = await checked(request)
        response.headers += Self.safety
        return (response, isKnown)
    }

    /// The headers of each response for the browser: nothing from elsewhere, nothing inline, no frame, no copy.
    private static let safety: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'self'; base-uri 'none'; form-action 'self'; object-src 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"), ("Referrer-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    ]

    private func checked(_ request: IncomingRequest) async -> (response: DashboardResponse, isKnown: Bool) {
        let isProgram: Bool
        switch guardian.verdict(on: request) {
        case .refuse(let status, let reason):
            let fields = status == 401 ? [(name: "WWW-Authenticate", value: "Bearer")] : []
            return (.text(reason, status: status, headers: fields), false)
        case .sendOn(let origin): return (.redirect(to: origin + request.target, status: 307), false)
        case .program: isProgram = true
        case .person: isProgram = false
        }
        guard request.path == options.basePath || request.path.hasPrefix(options.basePath + "/") else {
            return (.text("there is nothing here; the pages are below \(options.basePath)/", status: 404), false)
        }
        let path = String(request.path.dropFirst(options.basePath.count))
        // The cookie is for what is below: without the slash a browser would not send it.
        if path.isEmpty, request.isSafe {
            let query = request.target.dropFirst(options.basePath.count)
            return (.redirect(to: "\(options.basePath)/\(query)", status: 307), false)
        }
        guard request.isSafe || request.method == "POST" else {
            return (
                .text("nothing here knows \(request.method)", status: 405, headers: [("Allow", "GET, HEAD, POST")]),
                false
            )
        }
        if request.isSafe, let asset = Self.asset(path) { return (asset, false) }
        if path == "/sign-in" { return (signIn(request), false) }
        guard isProgram || sessions.isKnown(request.cookies(Sessions.cookieName(at: guardian.port))) else {
            return (.html(doorPage.signedOut(), status: 401), false)
        }
        return (await routed(path, request), true)
    }

    /// Returns the response for what holds nothing of any job.
    private static func asset(_ path: String) -> DashboardResponse? {
        func response(_ type: String, _ texts: UnsafePointer<CChar>...) -> DashboardResponse {
            DashboardResponse(type: type, body: .bytes(texts.flatMap { Array(String(cString: $0).utf8) }))
        }
        return switch path {
        case "/style.css":
            response("text/css; charset=utf-8", pipeline_asset_picture_css(), pipeline_asset_style_css())
        case "/script.js": response("text/javascript; charset=utf-8", pipeline_asset_script_js())
        case "/icon.svg", "/favicon.ico": response("image/svg+xml", pipeline_asset_icon_svg())
        default: nil
        }
    }

    private func signIn(_ request: IncomingRequest) -> DashboardResponse {
        // Programs that only look where a link leads don't use it up.
        guard request.method == "GET" else {
            return .text("a link to sign in is opened with GET", status: 405, headers: [("Allow", "GET")])
        }
        guard let key = request.queryValues["key"], let cookie = sessions.open(key, at: clock.now) else {
            return .html(doorPage.signedOut(wasLink: true), status: 401)
        }
        // A page and not a redirect: after one that began elsewhere the browser would not send the cookie.
        return .html(
            doorPage.signedIn(),
            headers: [
                (
                    "Set-Cookie",
                    "\(Sessions.cookieName(at: guardian.port))=\(cookie); Path=\(options.basePath)/; HttpOnly; SameSite=Strict"
                )
            ])
    }

    private func page(_ section: Page.Section?, change: Int64 = 0, job: JobID? = nil) -> Page {
        let settings = view.workspace.settings
        return Page(
            base: options.basePath, section: section, now: clock.now, hasActions: actions != nil, change: change,
            job: job, folder: settings.stateFolder, mistakes: AssertionFiles(settings: settings).count)
    }

    /// For those who were not let in: it tells nothing of the state folder.
    private var doorPage: Page {
        Page(
            base: options.basePath, section: nil, now: clock.now, hasActions: false, change: 0, job: nil, folder: "",
            mistakes: 0)
    }

    private func routed(_ path: String, _ request: IncomingRequest) async -> DashboardResponse {
        do throws(JournalFailure) {
            return try await route(path, request)
        } catch {
            return .html(page(nil).failed("The journal can't be read", "\(error)"), status: 500)
        }
    }

    private func route(
        _ path: String, _ request: IncomingRequest
    ) async throws(JournalFailure) -> DashboardResponse {
        let parts = path.split(separator: "/").map(String.init)
        // No name has one, and PostgreSQL takes none.
        guard !request.holdsNull else {
            return .html(page(nil).failed("There is nothing here", "The address holds a NUL."), status: 400)
        }
        if request.method == "POST" { return try await post(parts, request) }
        // Before the page is read: what changes meanwhile is told again.
        let change = try await view.journal.lastChange()
        switch (parts.first, parts.count) {
        case (nil, 0):
            var query = JobsPage.Filter(request.queryValues, now: clock.now)
            // A batch is named by its job or by its key.
            if let name = query.query.batch?.text, let named = try await view.journal.jobs(JobQuery(key: name)).first {
                query.query.batch = named.snapshot.record.id
            }
            return .html(try await JobsPage(view, page(.jobs, change: change), query).markup())
        case ("changes", 1): return stream(request, change)
        case ("jobs", 2):
            let job = JobID(parts[1])
            guard let found = try await view.journal.jobs(JobQuery(prefix: job.text, limit: 1)).first else { break }
            let own = found.snapshot.record.id
            if own != job { return .redirect(to: "\(options.basePath)/jobs/\(own)") }
            if found.snapshot.batch != nil { return .redirect(to: "\(options.basePath)/batches/\(own)") }
            return .html(try await JobPage(view, page(.jobs, change: change, job: own), found).markup())
        case ("batches", 2), ("batches", 3):
            let found = try await view.journal.jobs(JobQuery(prefix: parts[1], limit: 1)).first
            guard let found, found.snapshot.batch != nil else { break }
            let shown = BatchPage(view, page(.jobs, change: change), found)
            if parts.count == 2 { return .html(try await shown.markup()) }
            if parts[2] == "results.json" { return shown.results(isCSV: false) }
            if parts[2] == "results.csv" { return shown.results(isCSV: true) }
        case ("services", 1): return .html(try await ServicesPage(view, page(.services, change: change)).markup())
        case ("pipelines", 1): return .html(try await PipelinesPage(view, page(.pipelines, change: change)).markup())
        case ("workers", 1): return .html(try await WorkersPage(view, page(.workers, change: change)).markup())
        case ("mistakes", 1): return .html(MistakesPage(view.workspace.settings, page(nil)).markup)
        case ("metrics", 1): if let metrics { return await metrics(request) }
        default: break
        }
        return .html(page(nil).failed("There is nothing here", "The job may have been removed."), status: 404)
    }

    private func stream(_ request: IncomingRequest, _ change: Int64) -> DashboardResponse {
        let given = request.value("Last-Event-ID") ?? request.queryValues["after"]
        // A number from another journal would wait for changes that have been.
        let after = min(given.flatMap { Int64($0) } ?? change, change)
        guard let stream = streams.stream(after: max(0, after), of: request.queryValues["job"].map { JobID($0) }) else {
            return .text("too many pages are open", status: 503, headers: [("Retry-After", "30")])
        }
        return DashboardResponse(type: "text/event-stream", body: .stream(stream))
    }

    private func post(_ parts: [String], _ request: IncomingRequest) async throws(JournalFailure) -> DashboardResponse {
        guard let actions, parts == ["actions"] || parts == ["sure"] else {
            return .html(
                page(nil).failed("Nothing is done from here", "Start it with --actions to allow that."), status: 403)
        }
        let form = request.form
        guard let action = form["action"].flatMap({ JobAction(rawValue: $0) }) else {
            return .html(page(nil).failed("No such action", "Name one of the buttons."), status: 400)
        }
        if form["all"] != nil, let mistake = JobsPage.Filter(form, now: clock.now).mistake {
            return .html(page(nil).failed("Nothing was done", mistake), status: 400)
        }
        let jobs = try await chosen(form)
        guard !jobs.isEmpty else {
            if form["all"] == nil, !form.all("job").isEmpty {
                return .html(page(nil).failed("The job is gone", "It was removed meanwhile."), status: 404)
            }
            return .html(page(nil).failed("No job was chosen", "Tick the boxes before their rows."), status: 400)
        }
        let targets = jobs.filter { action.applies(to: $0) }
        do throws(ActionFailure) {
            if targets.isEmpty { throw ActionFailure(action.refusal(of: jobs), isRefusal: true) }
            // What a button of a list asks first; programs and the buttons of one job do it at once.
            if parts == ["sure"], action == .cancel, targets.count > 1 {
                return .html(CancelQuestion(targets, back: form["back"], page(nil)).markup)
            }
            try await actions.perform(action, on: JobActionTargets(targets, action))
        } catch {
            let said = page(nil).failed(error.failure.title, error.failure.hint ?? "")
            return .html(said, status: error.isRefusal ? 409 : 500)
        }
        return .redirect(to: options.basePath + (form["back"].flatMap { Self.isPath($0) ? $0 : nil } ?? "/"))
    }

    /// True of a path of these pages. Browsers take `/\` for `//`, which names another host, and pass over line breaks and tabs.
    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && !text.hasPrefix("//")
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    }

    /// The jobs that a form names, or all that match its filter.
    private func chosen(_ form: FormValues) async throws(JournalFailure) -> [OwnedJob] {
        if form["all"] != nil {
            var query = JobsPage.Filter(form, now: clock.now).query
            query.limit = JobActionTargets.limit
            query.before = nil
            return try await view.journal.page(query)
        }
        var jobs: [OwnedJob] = []
        for name in form.all("job").prefix(JobActionTargets.limit) {
            let query = JobQuery(prefix: name, limit: 1, isBrief: true)
            if let job = try await view.journal.jobs(query).first, job.snapshot.record.id.text == name {
                jobs.append(job)
            }
        }
        return jobs
    }
}
