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
            guard let transfer = $0.work.transfer, let retry = transfer.retry else {
                return GateExplanation(
                    value: "",
                    needed: "",
                    since: nil,
                    sentence: "it is tried again"
                )
            }
            let sentence = retry.interruption.sentence(in: transfer.directory)
            return GateExplanation(
                value: sentence,
                needed: "\(max(.zero, retry.at - $0.now.wall)) more",
                since: retry.at - retry.wait,
                sentence: sentence,
                fix: retry.interruption.fix(of: transfer.id, in: transfer.directory)
            )
        }
    )
}

extension ExchangeEnd.Interruption {
    /// Completes "it waits because …". `directory`: where its file is.
    func sentence(in directory: String) -> String {
        // What its answer was is a sentence of its own.
        if cause == .busy, reason.hasPrefix("the server ") { return reason }
        if cause == .diskFull, !reason.isEmpty {
            return "the disk has too little room (\(directory)): \(reason)"
        }
        let text =
            switch cause {
            case .stopped: "its last attempt was stopped"
            case .connection: "the connection failed"
            case .timedOut: "the server sent nothing for too long"
            case .busy: "the server is busy"
            case .diskFull: "the disk is full (\(directory))"
            case .shortage: "this machine interrupted it"
            }
        return reason.isEmpty ? text : "\(text) (\(reason))"
    }

    /// Empty: it is enough to wait.
    fileprivate func fix(of id: TransferID, in directory: String) -> String {
        switch cause {
        case .diskFull:
            "free space on the file system of \(directory), then: offstage resume \(id)"
        case .stopped, .connection, .timedOut, .busy, .shortage: ""
        }
    }
}
