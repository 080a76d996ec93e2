package import PipelineCore
package import PipelineHTTP

/// The kinds of stage that every `pipeline` has; registered like any other.
package enum StandardStages {
    /// All of them, sending over the network and knowing the decorators.
    ///
    /// - Parameters:
    ///   - digests: takes the digests of files that were sent whole.
    ///   - polls: where the polls of all jobs meet.
    package static func kinds(
        network: Network, decorators: DecoratorCatalogue, digests: DigestCache = DigestCache(),
        polls: SharedPolls = SharedPolls()
    ) -> [StageKind] {
        // Each stage keeps a reference to it.
        let network = Indirect(wrappedValue: network)
        return [
            ComputeKind.make(network: network, decorators: decorators, polls: polls),
            RequestKind.make(network: network, decorators: decorators),
            UploadKind.make(network: network, decorators: decorators, digests: digests),
            DownloadKind.make(network: network, decorators: decorators), WaitKind.make(), WriteKind.make(),
        ]
    }
}
