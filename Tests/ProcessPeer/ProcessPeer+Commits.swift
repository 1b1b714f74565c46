import DeviceCore
import DeviceShell
import Glibc
import Linux
import TestKit
import Vocabulary

extension ProcessPeer {
    /// Goes on with the number after that of the last commit: an app's record and a line of the
    /// history have it.
    static func commitUntilKilled(_ database: String, _ log: String, after text: String) throws {
        guard let microseconds = Int(text) else { throw DidNotHappen(description: "usage") }
        let acknowledged = try FileDescriptor(opening: log, [.writing, .create, .append])
        let store = try Store(path: database)
        var number = Int64(try store.history(limit: 10_000).count)
        signal(SIGALRM) { _ in kill(getpid(), SIGKILL) }
        var time = itimerval()
        time.it_value.tv_usec = microseconds
        var isArmed = false
        while true {
            number += 1
            var record = AppRecord(id: AppID("app"))
            record.failures.count = number
            record.failures.reason = String(repeating: "x", count: 2000)
            try store.commit([.put(.app(record)), .append(line(number))])
            try acknowledged.writeAll("\(number)\n")
            // On a slow machine as well one is acknowledged.
            if !isArmed { setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &time, nil) }
            isArmed = true
        }
    }

    private static func line(_ number: Int64) -> HistoryLine {
        HistoryLine(
            at: WallTime(nanoseconds: number * 1_000_000_000),
            utcOffset: 0,
            app: AppID("app"),
            entry: .note("\(number)")
        )
    }
}
