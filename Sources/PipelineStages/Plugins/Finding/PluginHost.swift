public import JSONPath
public import PipelineCore
import Synchronization

/// The plugins of one run of the program: found in folders, asked once what they are, made into kinds of stage.
public final class PluginHost: Sendable {
    /// How the names of stage plugins begin.
    public static let stagePrefix = "pipeline-stage-"

    public let folders: PluginFolders
    private let settings: PluginSettings
    /// Kinds that the program has itself and that no plugin replaces.
    private let reserved: Set<String>
    private let described = Mutex<[String: Result<PluginDescription, PluginFault>]>([:])

    public init(folders: PluginFolders, settings: PluginSettings, reserved: Set<String> = []) {
        self.folders = folders
        self.settings = settings
        self.reserved = reserved
    }

    /// The kinds that a document may mean: only plugins whose name stands in it are started.
    public func kinds(namedIn source: SourceText) async -> [StageKind] {
        let programs = usable
        guard !programs.isEmpty else { return [] }
        let text = String(decoding: source.bytes, as: UTF8.self)
        return await kinds(of: programs.filter { text.contains("\"\($0.name)\"") })
    }

    /// All kinds, for the schema; plugins that can't be used are left out.
    public func kinds() async -> [StageKind] {
        let programs = usable
        let kinds = await kinds(of: programs)
        return described.withLock { described in
            zip(programs, kinds).compactMap { program, kind in
                if case .success? = described[program.path] { kind } else { nil }
            }
        }
    }

    /// What is found where, hidden and broken programs too.
    public func reports() async -> [PluginReport] {
        let programs = folders.programs(prefix: Self.stagePrefix)
        let results = await descriptions(of: programs)
        return zip(programs, results).map { PluginReport($0, $1, isReserved: reserved.contains($0.name)) }
    }

    private var usable: [PluginProgram] {
        folders.programs(prefix: Self.stagePrefix).filter { $0.hiddenBy == nil && !reserved.contains($0.name) }
    }

    private func kinds(of programs: [PluginProgram]) async -> [StageKind] {
        let results = await descriptions(of: programs)
        return zip(programs, results).map { program, result in
            switch result {
            case .success(let description): PluginKind.make(program, description, settings: settings)
            case .failure(let fault): PluginKind.broken(program, fault)
            }
        }
    }

    private func descriptions(of programs: [PluginProgram]) async -> [Result<PluginDescription, PluginFault>] {
        await withTaskGroup(of: (Int, Result<PluginDescription, PluginFault>).self) { group in
            for (index, program) in programs.enumerated() {
                group.addTask { (index, await self.description(of: program)) }
            }
            var results = [Result<PluginDescription, PluginFault>?](repeating: nil, count: programs.count)
            for await (index, result) in group { results[index] = result }
            return results.compactMap(\.self)
        }
    }

    private func description(of program: PluginProgram) async -> Result<PluginDescription, PluginFault> {
        if let known = described.withLock({ $0[program.path] }) { return known }
        let result = await PluginInquiry(program: program, settings: settings).describe()
        described.withLock { $0[program.path] = result }
        return result
    }
}
