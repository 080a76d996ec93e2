public import PipelineCore
public import PipelineHTTP
public enum StandardStages { public static func kinds(network: Network, decorators: DecoratorCatalogue) -> [StageKind] { [] } }
