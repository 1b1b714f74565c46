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
                needed: "a valid manifest",
                since: nil,
                sentence: $0.app.problem.map { "its manifest is not valid (\($0))" }
                    ?? "no manifest of that name is installed"
            )
        }
    )
}
