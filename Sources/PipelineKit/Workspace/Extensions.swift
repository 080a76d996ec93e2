public import PipelineCore
public import PipelineHTTP
public import PipelineStages

/// The additions of a program to the built-in kinds of stage, decorators and sinks; built-in ones are registered like
/// any other, and one of the same name replaces them.
public struct Extensions: Sendable {
    /// The network that stages send through; whoever makes a kind captures it.
    public private(set) var network: Network
    private var stages: [StageKind] = []
    private var decorators = DecoratorCatalogue.standard
    private var sinks: [NotificationSinkKind] = []

    private var digests: DigestCache
    private let polls = SharedPolls()

    init(network: Network, digests: DigestCache) {
        self.network = network
        self.digests = digests
    }

    /// Adds a kind of stage.
    public mutating func register(_ kind: StageKind) { stages.append(kind) }
    /// Adds a decorator.
    public mutating func register(_ decorator: DecoratorKind) { decorators.register(decorator) }
    /// Adds a sink of notifications.
    public mutating func register(_ sink: NotificationSinkKind) { sinks.append(sink) }

    /// Returns the same over another network, for what is built in.
    func over(_ network: Network) -> Extensions {
        var other = self
        other.network = network
        other.digests = DigestCache()
        return other
    }

    /// Names that no program may take.
    var decoratorNames: Set<String> { decorators.reservedNames }

    /// All decorators that are built in, were added, or are programs.
    func decorators(with plugins: PluginSet) -> DecoratorCatalogue {
        var known = decorators
        for decorator in plugins.decorators { known.register(decorator) }
        return known
    }

    /// All that is built in, was added, or is a program.
    func catalogue(with plugins: PluginSet = PluginSet()) -> Catalogue {
        let all = decorators(with: plugins)
        var catalogue = Catalogue(
            kinds: StandardStages.kinds(network: network, decorators: all, digests: digests, polls: polls),
            decoratorSchema: all.entrySchema, checkDecorators: { all.check($0, findings: $1) })
        for kind in stages + plugins.stages { catalogue.register(kind) }
        catalogue.otherKinds = plugins.installedStages
        for sink in sinks + plugins.sinks { catalogue.register(sink) }
        return catalogue
    }
}
