package import PipelineCore
import PipelineStages

extension BatchRecord {
    /// The file in whose middle reading stopped and that is another by now, and the place where reading begins again: with the
    /// first source, or after the last that is standard input, which nobody has any more. Nil where reading goes on.
    ///
    /// A byte of another file may be the middle of a row. Nothing is done twice, for rows that were read are known by their
    /// keys.
    package func changedSource(inputs: [String]) -> (path: String, place: ReadingPlace)? {
        guard let place, place.offset != nil, sources.indices.contains(place.source),
            let path = (try? ItemSource(sources[place.source], inputs: inputs))?.path,
            let now = SourceFingerprint.text(ofFileAt: AbsolutePath.of(path, in: folder)), now != place.fingerprint
        else { return nil }
        let piped = sources[..<place.source].lastIndex { ItemSource.isStandardInput($0) }
        return (path, ReadingPlace(source: piped.map { $0 + 1 } ?? 0))
    }
}
