import DeviceCore
import Vocabulary

/// When no message is on its way, an app and the daemon agree on the connection that they use, each
/// offer has been accepted or declined, and the app runs what it was told to run.
final class SidesAgree: Invariant {
    let name = "an app and the daemon agree on what runs"

    func idled(_ world: World) -> String? {
        for process in world.processes {
            guard let client = process.clients.first, client.isListening(world),
                process.link.hasFinishedLaunching
            else { continue }
            let launch = process.launch
            if client.bound != client.connection {
                return "launch \(launch) is connected, and the daemon does not know it"
            }
            for work in process.talk.work {
                guard work.begun != nil else {
                    return "launch \(launch) has no word for what it is offered"
                }
                if !process.link.running.contains(work.id) {
                    return "delivery \(work.id) was begun, and launch \(launch) does not run it"
                }
            }
        }
        return nil
    }
}
