extension PlannedStage {
    /// True if something that is judged at its end reads the response that ends it.
    package var readsResponse: Bool {
        cost?.references.contains { if case .response = $0.root { true } else { false } } ?? false
    }
}
