extension Picture {
    /// The picture with the colours inside a silhouette spread a little over its outline, so that no background shines
    /// through at the edge of a mesh.
    func spread(beyond silhouette: Silhouette) -> Picture {
        let cell = width / silhouette.columns
        var known = [Bool](repeating: false, count: width * height)
        for row in 0..<height {
            for column in 0..<width {
                known[row * width + column] = silhouette.isWellInside(row: row / cell, column: column / cell)
            }
        }
        var spread = self
        for _ in 0..<(4 * cell) { spread.spreadOnce(&known) }
        return spread
    }
}
