package import JSONPath
import PipelineCore
import Synchronization

/// The plugins of one run of the program: found in folders, asked once what they are, made into kinds.
package final class PluginHost: Sendable {
    package let folders: PluginFolders
    private let settings: PluginSettings
    /// Names that the program has itself and that no plugin replaces.
    private let reserved: [PluginRole: Set<String>]
    /// True while a program of a plugin runs.
    package var isAtWork: Bool { !settings.programs.isZero }
    private let described = Mutex<[String: Result<PluginDescription, PluginFault>]>([:])

    /// - Parameter reserved: names that are built in, by role.
    package init(folders: PluginFolders, settings: PluginSettings, reserved: [PluginRole: Set<String>] = [:]) {
        self.folders = folders
        self.settings = settings
        self.reserved = reserved
    }

    /// Returns what a document may mean: only plugins whose name stands in it are started.
    package func plugins(namedIn source: SourceText) async -> PluginSet {
        let programs = usable
        guard !programs.isEmpty else { return PluginSet() }
        let text = String(decoding: source.bytes, as: UTF8.self)
        var set = await plugins(of: programs.filter { text.contains("\"\($0.name)\"") }, withBroken: true)
        set.installedStages = programs.filter { $0.role == .stage && $0.isExecutable }.map(\.name)
        return set
    }

    /// All of them, for the schema; plugins that can't be used are left out.
    package func plugins() async -> PluginSet { await plugins(of: usable, withBroken: false) }

    /// Returns what is found where, hidden and broken programs too.
    package func reports() async -> [PluginReport] {
        let programs = folders.programs()
        let results = await descriptions(of: programs)
        return zip(programs, results).map { PluginReport($0, $1, isReserved: isReserved($0)) }
    }

    private func isReserved(_ program: PluginProgram) -> Bool {
        reserved[program.role]?.contains(program.name) == true
    }

    private var usable: [PluginProgram] {
        folders.programs().filter { $0.hiddenBy == nil && !isReserved($0) }
    }

    private func plugins(of programs: [PluginProgram], withBroken: Bool) async -> PluginSet {
        let results = await descriptions(of: programs)
        var set = PluginSet()
        for (program, result) in zip(programs, results) {
            switch result {
            case .success(let description): add(program, description, to: &set)
            case .failure(let fault): if withBroken { Self.add(broken: program, fault, to: &set) }
            }
        }
        return set
    }

    private func add(_ program: PluginProgram, _ description: PluginDescription, to set: inout PluginSet) {
        switch program.role {
        case .stage: set.stages.append(PluginKind.make(program, description, settings: settings))
        case .decorator: set.decorators.append(PluginDecoratorKind.make(program, description, settings: settings))
        case .sink: set.sinks.append(PluginSinkKind.make(program, description, settings: settings))
        }
    }

    private static func add(broken program: PluginProgram, _ fault: PluginFault, to set: inout PluginSet) {
        switch program.role {
        case .stage: set.stages.append(PluginKind.broken(program, fault))
        case .decorator: set.decorators.append(PluginDecoratorKind.broken(program, fault))
        case .sink: set.sinks.append(PluginSinkKind.broken(program, fault))
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
        guard program.isExecutable else {
            return .failure(
                PluginFault(.notStarted, "may not be executed", hint: "chmod +x \(program.path)"))
        }
        if let known = described.withLock({ $0[program.path] }) { return known }
        let result = await PluginInquiry(program: program, settings: settings).describe()
        described.withLock { $0[program.path] = result }
        return result
    }
}
