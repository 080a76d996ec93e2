import CLibrary
import JSONPath
import PipelineCore

/// Fetches inputs that are URLs, for stages that need a file: a download into the state folder, once for a job, which goes
/// on where it was interrupted and is gone with the job.
package struct FetchedInputs: Sendable {
    /// Below the state folder.
    private let folder: String
    private let catalogue: Catalogue
    private let turns = FetchTurns()

    init(stateFolder: String, catalogue: Catalogue) {
        folder = "\(stateFolder)/inputs"
        self.catalogue = catalogue
    }

    /// As ``FileFacts/copy(of:for:host:)`` says. Of several steps that want the same one, one fetches it.
    func copy(
        of url: String, for document: PipelineDefinition, host: any StageHost
    ) async throws(StageFailure) -> String {
        // The address may hold a signature: it stands in no name.
        let place = "\(folder(of: host.facts.job))/\(host.digest(Array(url.utf8)).prefix(16))"
        await turns.begin(place)
        let result = await fetched(url, into: place, for: document, host)
        await turns.end(place)
        let path = try result.get()
        // A download's file has the modes of results; all that is in the state folder is the user's alone.
        chmod(path, 0o600)
        return path
    }

    /// Removes one, and how far its fetching came: it is fetched from its beginning then.
    static func forget(copyAt path: String) {
        unlink(path)
        unlink("\(AbsolutePath.folder(of: path))/checkpoint")
    }

    /// Forgets those of a job.
    func remove(_ job: JobID) {
        let job = folder(of: job)
        for place in FolderContent.names(job) {
            for name in FolderContent.names("\(job)/\(place)") { unlink("\(job)/\(place)/\(name)") }
            rmdir("\(job)/\(place)")
        }
        rmdir(job)
    }

    private func folder(of job: JobID) -> String { "\(folder)/\(job.text)" }

    private func fetched(
        _ url: String, into place: String, for document: PipelineDefinition, _ host: any StageHost
    ) async -> Result<String, StageFailure> {
        let name = Self.name(of: url)
        let path = "\(place)/\(name)"
        if access(path, R_OK) == 0 { return .success(path) }
        for folder in [folder, folder(of: host.facts.job), place] { mkdir(folder, 0o700) }
        do throws(StageFailure) {
            let scope = try await host.scope()
            guard let input = scope.inputs.first(where: { $0.value.string == url })?.name else {
                throw .definite(StepFailure("\(url) is no input of the job", place: host.facts.place))
            }
            let stage = try stage(for: input, url, name, document, scope, host)
            let fetching = FetchHost(host, folder: place)
            switch await stage.resume(fetching.checkpoint, fetching) {
            case .success(.finished): return .success(path)
            case .success:
                let failure = StepFailure("the input '\(input)' could not be fetched yet", place: host.facts.place)
                throw .failed(AttemptFailure(failure, kind: .silent))
            case .failure(let failure): throw failure
            }
        } catch {
            return .failure(error)
        }
    }

    /// A download of the document's services, of which the one that the URL belongs to gives its credentials.
    private func stage(
        for input: String, _ url: String, _ name: String, _ document: PipelineDefinition, _ scope: Scope,
        _ host: any StageHost
    ) throws(StageFailure) -> AnyStage {
        let service = document.services.first { service in
            (try? service.url.evaluateText(in: scope)).map { Self.origin(of: $0) == Self.origin(of: url) } ?? false
        }
        let members = JSONNode.read(document.source).node?.json
        var download: JSONObject = [
            "id": "fetch", "kind": "download", "request": ["GET": .string("${{ inputs['\(input)'] }}")],
            "to": .string(name), "overwrite": true,
        ]
        if let service { download["service"] = .string(service.name) }
        let text = JSON.object([
            "pipeline": 1, "name": "fetch", "inputs": members?["inputs"] ?? [:],
            "services": members?["services"] ?? [:], "stages": [.object(download)],
        ]).text
        guard let plan = try? Planner(catalogue: catalogue).plan(SourceText(name: "fetch", text: text)),
            let stage = plan.stages.first?.stage
        else {
            throw .definite(StepFailure("the input '\(input)' can't be fetched", place: host.facts.place))
        }
        return stage
    }

    private static func origin(of url: String) -> String {
        let parts = URLReference(url)
        return "\(parts.scheme?.lowercased() ?? "")://\(parts.authority?.lowercased() ?? "")"
    }

    /// The last part of the URL's path, of letters, digits, points, lines and dashes.
    private static func name(of url: String) -> String {
        let bare = url.prefix { $0 != "?" && $0 != "#" }
        let last = bare.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3).last ?? ""
        let plain = last.unicodeScalars.map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains(scalar))
                ? Character(scalar) : "_"
        }
        let name = String(plain.drop { $0 == "." }.suffix(100))
        return name.isEmpty || name == "checkpoint" ? "input" : name
    }
}

/// Lets one at a time do something under a name.
private actor FetchTurns {
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

    func begin(_ name: String) async {
        guard waiting[name] != nil else {
            waiting[name] = []
            return
        }
        await withCheckedContinuation { waiting[name]?.append($0) }
    }

    func end(_ name: String) {
        if waiting[name]?.isEmpty == false {
            waiting[name]?.removeFirst().resume()
        } else {
            waiting[name] = nil
        }
    }
}
