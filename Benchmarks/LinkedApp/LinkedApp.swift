// An app as small as one can be that links Offstage, for `make bench ONLY=apps`. Arguments:
//
//     (none)         registers, and runs its handler when it is given time
//     by-hand        the same, and does without a daemon what the handler would do
//     submit FIFO    the same, and submits 10 times for each byte from FIFO

import Offstage

@main
final class LinkedApp: UIResponder, UIApplicationDelegate {
    nonisolated static let identifier = "org.offstage.bench.refresh"

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.identifier, using: nil) {
            handle()
            $0.setTaskCompleted(success: true)
        }
        switch CommandLine.arguments.dropFirst().first {
        case "by-hand": handle()
        case "submit": Thread { submit(orders: CommandLine.arguments[2]) }.start()
        default: break
        }
        return true
    }
}

/// The line of code to which every way to get here is timed; CLOCK_MONOTONIC, nanoseconds.
func handle() {
    let now = DispatchTime.now().uptimeNanoseconds
    say("handler \(now)")
}

/// Says after each order what its calls took, in nanoseconds.
func submit(orders: String) {
    guard let orders = FileHandle(forReadingAtPath: orders) else { return }
    while !orders.availableData.isEmpty {
        var times: [UInt64] = []
        for _ in 0..<10 {
            let request = BGAppRefreshTaskRequest(identifier: LinkedApp.identifier)
            request.earliestBeginDate = Date(timeIntervalSinceNow: 86_400)
            let begin = DispatchTime.now().uptimeNanoseconds
            do {
                try BGTaskScheduler.shared.submit(request)
            } catch {
                return say("not submitted: \(error)")
            }
            times.append(DispatchTime.now().uptimeNanoseconds - begin)
        }
        say("submitted " + times.map(String.init).joined(separator: " "))
    }
}

func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
