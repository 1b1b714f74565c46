package import Vocabulary

/// What is printed of a refresh that was decided.
package enum DecisionText {
    /// From which share on, 0 to 1, a refresh was worth it.
    static func worth(_ price: Double) -> String {
        price > 0 ? "from \(percent(price))" : "at any chance"
    }

    package static func percent(_ share: Double) -> String { (share * 100).tenths + " %" }
}

extension RefreshReason {
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

extension Report.Decision {
    /// Why a refresh was begun when it was.
    package var text: String {
        let remaining = budget.map { "\(left) of \($0) left" } ?? "\(left) left"
        // Reasons of a later version stand as they are.
        let because = because.map { $0.known?.explanation ?? " (\($0.text))" }
        return "\(DecisionText.percent(chance)) likely to be opened within half an hour; "
            + "a refresh was worth it \(DecisionText.worth(price))\(because ?? ""); "
            + remaining
    }
}
