import Vocabulary

extension GateTable.Definition {
    /// A transfer of an app's session has asked its app something.
    static let answer = Self(
        title: "waiting for an answer of its app",
        kind: .rule,
        check: { $0.work.transfer?.question == nil ? .open : .held(.event) },
        explain: {
            let question = $0.work.transfer?.question
            return GateExplanation(
                value: question?.kind.word.rawValue ?? "",
                needed: "an answer of its app",
                since: question?.since,
                sentence: question?.kind.sentence ?? "its app is asked",
                fix: question == nil ? "" : "open the app"
            )
        }
    )
}
