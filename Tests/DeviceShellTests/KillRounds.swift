import Linux
import TestKit
import Vocabulary

/// The rounds of kill loops: `OFFSTAGE_ROUNDS`, else so many as there is time for with each change.
enum KillRounds {
    static let count = wanted ?? 50

    /// Of a loop whose rounds take longer: `usual` of them with each change, else as many as of
    /// every other.
    static func count(usual: Int) -> Int { wanted ?? usual }

    private static let wanted = CurrentProcess.environment("OFFSTAGE_ROUNDS").flatMap { Int($0) }
}

extension ScratchDaemon {
    func transfer(_ id: String) throws -> Value? {
        let list = try ValueJSON.parse(offstage("transfers", "--json").output).listValue ?? []
        return list.first { $0["id"]?.integerValue == Int64(id) }
    }

    /// Kill -9. Whoever waits to try again after it is told to do so at once: how long it waits is
    /// another test's.
    func killNetworkProcess() throws {
        guard let process = try networkProcess() else {
            throw DidNotHappen(description: "a network process\n\(log)")
        }
        try PidFD(of: process).send(Signal.kill)
        try Wait.untilGone(process)
    }

    /// Until a condition holds that a transfer brings about, which is told not to wait.
    func hurry(_ id: String, until what: String, _ condition: () throws -> Bool) throws {
        try Wait.until("\(what)\n\(log)", condition) {
            _ = try offstage("transfers", "--resume", id)
            try Wait.pause()
        }
    }
}
