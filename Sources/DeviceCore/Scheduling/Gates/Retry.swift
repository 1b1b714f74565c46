import Vocabulary

extension GateTable.Definition {
    /// An attempt was interrupted; each that brings nothing doubles the wait for the next.
    static let retry = Self(
        title: "waiting for the next attempt",
        kind: .rule,
        check: {
            guard let retry = $0.work.transfer?.retry, $0.now.wall < retry.at else { return .open }
            return .held(.attempt($0.now.boot(of: retry.at)))
        },
        explain: {
            guard let retry = $0.work.transfer?.retry else {
                return GateExplanation(
                    value: "",
                    needed: "",
                    since: nil,
                    sentence: "it is tried again"
                )
            }
            return GateExplanation(
                value: retry.interruption.sentence,
                needed: "\(max(.zero, retry.at - $0.now.wall)) more",
                since: retry.at - retry.wait,
                sentence: retry.interruption.sentence
            )
        }
    )
}

extension ExchangeEnd.Interruption {
    /// Completes "it waits because …".
    var sentence: String {
        // What its answer was is a sentence of its own.
        if cause == .busy, reason.hasPrefix("the server ") { return reason }
        let text =
            switch cause {
            case .stopped: "its last attempt was stopped"
            case .connection: "the connection failed"
            case .timedOut: "the server sent nothing for too long"
            case .busy: "the server is busy"
            case .diskFull: "the disk is full"
            case .shortage: "this machine interrupted it"
            }
        return reason.isEmpty ? text : "\(text) (\(reason))"
    }
}
