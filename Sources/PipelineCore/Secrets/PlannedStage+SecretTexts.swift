package import JSONPath

extension PlannedStage {
    /// The texts of its secret captures by which they are hidden and sealed, each with the capture's name as `STAGE.NAME`.
    package func secretTexts(in captures: JSONObject) -> [(name: String, value: String)] {
        self.captures.filter(\.isSecret).flatMap { declared in
            (captures[declared.name] ?? .null).secretTexts.map { ("\(id).\(declared.name)", $0) }
        }
    }
}
