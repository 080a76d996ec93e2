package import PipelineCore
import PipelineKit

/// The last jobs of a pipeline as small columns: as high as they took long, in the colour of their end.
package struct Sparkline: Sendable {
    private let runs: [JobRun]

    package init(_ runs: [JobRun]) { self.runs = runs }

    package var svg: Markup {
        let most = max(runs.map(\.seconds).max() ?? 0, 0.001)
        let columns = runs.enumerated().map { index, run -> Markup in
            let height = max(2, run.seconds / most * 26)
            return """
                <rect class="bar \(run.outcome.rawValue)" x="\(Double(index) * 7)" y="\(28 - height)" width="5" \
                height="\(height)"><title>\(run.outcome.rawValue) after \(DurationText.rounded(run.seconds))</title></rect>
                """
        }
        let bad = runs.count { $0.outcome != .succeeded }
        return """
            <svg class="spark" viewBox="0 0 \(Double(max(runs.count, 1)) * 7) 29" role="img" \
            aria-label="\(runs.count) last jobs, of which \(bad) did not succeed"><g>\(columns)</g>\
            <line class="base" x1="0" x2="\(Double(max(runs.count, 1)) * 7)" y1="28.5" y2="28.5"/></svg>
            """
    }
}
