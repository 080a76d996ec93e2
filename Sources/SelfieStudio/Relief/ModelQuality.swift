/// The fineness of a model's mesh.
enum ModelQuality: String, Codable, Sendable, CaseIterable {
    /// A quarter of the points.
    case draft
    /// A point for each pixel, up to 512 a side.
    case full
}
