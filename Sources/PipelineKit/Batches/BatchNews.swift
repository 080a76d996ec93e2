package import PipelineCore

/// An event of a batch, published as it happens.
package enum BatchNews: Sendable {
    /// Rows were read; the batch as it stands then.
    case read(AddedItems, BatchRecord)
    /// A file has changed since it was read in part, and the sources are read again.
    case readAgain(String)
    /// An item's job was begun, or gone on with.
    case began(ItemRecord)
    /// An item ended, or can't go on now.
    case finished(ItemRecord, BatchRecord)
}
