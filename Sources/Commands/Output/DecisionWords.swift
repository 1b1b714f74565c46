import Vocabulary

extension Value {
    /// Why a refresh was begun when it was, from its `decision` in a report.
    var decisionWords: String {
        guard seconds("chance") != nil else { return "" }
        let left = number("left") ?? 0
        let purse = number("budget").map { "\(left) of \($0) left" } ?? "\(left) left"
        let worth =
            percent("price") == "0.0 %" ? "at any chance" : "from \(percent("price"))"
        return "\(percent("chance")) likely to be opened within half an hour; "
            + "a refresh was worth it \(worth)\(Self.because(text("because"))); \(purse)"
    }

    /// A share from 0 to 1.
    func percent(_ name: String) -> String { ((seconds(name) ?? 0) * 100).tenths + " %" }

    /// Words that come later stand as they are.
    private static func because(_ word: String) -> String {
        switch word {
        case "", "chance": ""
        case "deviceAwake": ", as the device was awake"
        case "sharedWake": ", as another app woke the device"
        case "turn": ", as it had got nothing for long"
        default: " (\(word))"
        }
    }
}
