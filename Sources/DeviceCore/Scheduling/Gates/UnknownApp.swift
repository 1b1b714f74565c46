import Vocabulary

extension GateTable.Definition {
    /// There is no usable manifest: nobody knows what to start.
    static let unknownApp = Self(
        title: "app unknown, manifest invalid",
        kind: .needed,
        check: { $0.app.manifest == nil ? .held(.event) : .open },
        explain: {
            GateExplanation(
                value: $0.app.problem ?? "no manifest",
                needed: $0.app.lacksProgram ? "its program" : "a valid manifest",
                since: nil,
                sentence: $0.app.problemAside ?? "no manifest of that name is installed"
            )
        }
    )
}
