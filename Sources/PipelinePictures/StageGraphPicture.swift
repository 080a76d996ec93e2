package import PipelineCore

/// The stages of a document as boxes, each after those that it needs, in the colours of their states.
package struct StageGraphPicture: Sendable {
    private let stages: [(id: String, needs: [String], state: StepState.Name)]
    private static let (boxWidth, boxHeight, gapX, gapY) = (128.0, 34.0, 36.0, 12.0)

    /// - Parameter stages: each after those that it needs.
    package init(_ stages: [(id: String, needs: [String], state: StepState.Name)]) {
        self.stages = Array(stages.prefix(60))
    }

    package var svg: Markup {
        var columns: [String: Int] = [:]
        var heights: [Int: Int] = [:]
        var places: [String: (x: Double, y: Double)] = [:]
        for stage in stages {
            let column = (stage.needs.compactMap { columns[$0] }.max() ?? -1) + 1
            columns[stage.id] = column
            let row = heights[column, default: 0]
            heights[column] = row + 1
            places[stage.id] = (
                Double(column) * (Self.boxWidth + Self.gapX) + 2, Double(row) * (Self.boxHeight + Self.gapY) + 2
            )
        }
        let width = Double((columns.values.max() ?? 0) + 1) * (Self.boxWidth + Self.gapX) - Self.gapX + 4
        let height = Double(heights.values.max() ?? 1) * (Self.boxHeight + Self.gapY) - Self.gapY + 4
        var content = Markup.empty
        for stage in stages {
            guard let to = places[stage.id] else { continue }
            for need in stage.needs {
                guard let from = places[need] else { continue }
                let (x, y) = (from.x + Self.boxWidth, from.y + Self.boxHeight / 2)
                let end = to.y + Self.boxHeight / 2
                let middle = to.x - Self.gapX / 2
                content += "<path class=\"edge\" d=\"M\(x) \(y)H\(middle - 4)L\(middle + 4) \(end)H\(to.x)\"/>"
            }
        }
        for stage in stages {
            guard let place = places[stage.id] else { continue }
            let name = stage.id.count > 17 ? stage.id.prefix(16) + "…" : stage.id
            content += """
                <g class="box \(stage.state.rawValue)"><title>\(stage.id), \(stage.state.rawValue)</title>\
                <rect x="\(place.x)" y="\(place.y)" width="\(Self.boxWidth)" height="\(Self.boxHeight)" rx="8"/>\
                <text x="\(place.x + Self.boxWidth / 2)" y="\(place.y + 22)" text-anchor="middle">\(name)</text></g>
                """
        }
        let words = stages.map { "\($0.id) \($0.state.rawValue)" }.joined(separator: ", ")
        return """
            <svg class="picture graph" viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" role="img" \
            aria-label="\(words)">\(content)</svg>
            """
    }
}
