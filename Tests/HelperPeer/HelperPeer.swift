import Offstage

/// A helper program of an app, as a developer would write one: no window, no life cycle, only the
/// two calls that extensions have.
@main
struct HelperPeer {
    static func main() {
        let words = CommandLine.arguments
        switch words.dropFirst().first {
        case "submit": submit(words[2])
        case "activity": beActive()
        default: say("HelperPeer submit IDENTIFIER | activity")
        }
    }

    private static func submit(_ identifier: String) {
        do {
            try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: identifier))
            say("submitted")
        } catch let error as BGTaskScheduler.Error {
            let reason = (error as NSError).localizedFailureReason ?? ""
            say("error \(error.code.rawValue): \(reason)")
        } catch {
            say("\(error)")
        }
    }

    /// Works on when its time is over, as long as it lives.
    private static func beActive() {
        let never = DispatchSemaphore(value: 0)
        ProcessInfo.processInfo.performExpiringActivity(withReason: "sending") { isExpired in
            say(isExpired ? "expired" : "begun")
            if !isExpired { never.wait() }
        }
        never.wait()
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
