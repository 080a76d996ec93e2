public import PipelineCore
public import PipelineHTTP
public import PipelineStages

/// What a program adds to the built-in kinds of stage, decorators and sinks; built-in ones are registered like any
/// other, and one of the same name replaces them.
public struct Extensions: Sendable {
    /// The network that stages send through; whoever makes a kind captures it.
    public let network: Network
    private var stages: [StageKind] = []
    private var decorators = DecoratorCatalogue.standard
    private var sinks: [NotificationSinkKind] = []

    private let digests: KnownDigests

    init(network: Network, digests: KnownDigests) {
        self.network = network
        self.digests = digests
    }

    /// Adds a kind of stage.
    public mutating func register(_ kind: StageKind) { stages.append(kind) }
    /// Adds a decorator.
    public mutating func register(_ decorator: DecoratorKind) { decorators.register(decorator) }
    /// Adds a sink of notifications.
    public mutating func register(_ sink: NotificationSinkKind) { sinks.append(sink) }

    /// Names that no program may take.
    var decoratorNames: Set<String> { decorators.reservedNames }

    /// All that is built in, was added, or is a program.
    func catalogue(with plugins: PluginSet = PluginSet()) -> Catalogue {
        var known = decorators
        for decorator in plugins.decorators { known.register(decorator) }
        let all = known
        var catalogue = Catalogue(
            kinds: StandardStages.kinds(network: network, decorators: all, digests: digests),
            decoratorSchema: all.entrySchema, checkDecorators: { all.check($0, findings: $1) })
        for kind in stages + plugins.stages { catalogue.register(kind) }
        for sink in sinks + plugins.sinks { catalogue.register(sink) }
        return catalogue
    }
}
