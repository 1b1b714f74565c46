import DeviceCore
import Vocabulary

/// What is printed of a refresh that was decided.
enum DecisionText {
    /// From which share on, 0 to 1, a refresh was worth it.
    static func worth(_ price: Double) -> String {
        price > 0 ? "from \(percent(price))" : "at any chance"
    }

    static func percent(_ share: Double) -> String { (share * 100).tenths + " %" }
}

extension RefreshDecision.Reason {
    /// What follows "a refresh was worth it then".
    var explanation: String {
        switch self {
        case .chance: ""
        case .deviceAwake: ", because the device was awake"
        case .sharedWake: ", because another app woke the device"
        case .turn: ", because it had got no refresh for a long time"
        }
    }
}

extension Value {
    /// Why a refresh was begun when it was, from its `decision` in a report.
    var decisionText: String {
        guard let chance = seconds("chance") else { return "" }
        let left = number("left") ?? 0
        let remaining = number("budget").map { "\(left) of \($0) left" } ?? "\(left) left"
        // Reasons of a later version stand as they are.
        let word = text("because")
        let because =
            RefreshDecision.Reason(rawValue: word)?.explanation
            ?? (word.isEmpty ? "" : " (\(word))")
        return "\(DecisionText.percent(chance)) likely to be opened within half an hour; "
            + "a refresh was worth it \(DecisionText.worth(seconds("price") ?? 0))\(because); "
            + remaining
    }

    /// A share from 0 to 1.
    func percent(_ name: String) -> String { DecisionText.percent(seconds(name) ?? 0) }
}
