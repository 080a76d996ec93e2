public import PipelineCore
public import PipelineHTTP

/// The kinds of stage that every `pipeline` has; registered like any other.
public enum StandardStages {
    /// All of them, sending over the network and knowing the decorators.
    public static func kinds(network: Network, decorators: DecoratorCatalogue) -> [StageKind] {
        [
            ComputeKind.make(network: network, decorators: decorators),
            RequestKind.make(network: network, decorators: decorators),
            UploadKind.make(network: network, decorators: decorators),
            DownloadKind.make(network: network, decorators: decorators), WaitKind.make(), WriteKind.make(),
        ]
    }
}
