import ClientCore
import DeviceCore
import Vocabulary

extension PlantedBug {
    /// Bugs about transfers, of the core and of the network process.
    static let transfers: [PlantedBug] = [
        PlantedBug(
            "a part counts as the whole",
            "a downloaded file is one version, and whole"
        ).with {
            $0.days = 20
            $0.event = { event in
                guard case .transfer(let id, .progress(let received, _)) = event else {
                    return [event]
                }
                return [.transfer(id, .ended(.complete(size: received), durable: received))]
            }
        },
        // As if bytes of the version before were of the one that was answered last.
        PlantedBug(
            "a dead process leaves bytes of another version",
            "a downloaded file is one version, and whole"
        ).with {
            $0.notices = "joins"
            $0.days = 20
            $0.event = { event in
                guard case .transfer(let id, .ended(.interrupted(let why), durable: nil)) = event,
                    why.cause == .shortage
                else { return [event] }
                return [.transfer(id, .ended(.interrupted(why), durable: 1))]
            }
        },
        PlantedBug("transfers begin without limit", "transfers begin when they may").with {
            $0.days = 10
            $0.effect = { effect, _ in
                guard case .transfer(let id, .begin) = effect, case .transfer(_, let begin) = effect
                else { return [effect] }
                return (0..<40).map { .transfer(TransferID(id.number + $0 * 1000), begin) }
            }
        },
        PlantedBug(
            "an upload is sent again though the server may have it",
            "an uploaded file is whole, and not sent twice unasked"
        ).with {
            $0.notices = "has been sent twice"
            $0.days = 20
            $0.effect = { effect, _ in
                guard case .transfer(let id, .upload(var order, let file)) = effect else {
                    return [effect]
                }
                order.mayRepeat = true
                return [.transfer(id, .upload(order, file))]
            }
        },
        PlantedBug(
            "a file that has changed is sent all the same",
            "an uploaded file is whole, and not sent twice unasked"
        ).with {
            $0.notices = "is not the file that was meant"
            $0.days = 20
            $0.effect = { effect, _ in
                guard case .transfer(let id, .upload(var order, let file)) = effect else {
                    return [effect]
                }
                // Whatever its time says, it is taken for the same.
                if order.source.modified == 1 { order.source.modified = 2 }
                return [.transfer(id, .upload(order, file))]
            }
        },
        PlantedBug("transfers are not stored", "a transfer that was promised is kept").with {
            $0.days = 20
            $0.changes = { changes in
                changes.filter { if case .put(.transfer) = $0 { false } else { true } }
            }
        },
        PlantedBug(
            "the library acknowledges by itself",
            "the end of a session's task is told until it is acknowledged"
        ).with {
            $0.days = 10
            $0.client = { effect in
                guard case .taskEnded(_, _, let number) = effect else { return [effect] }
                return [.reply(number)]
            }
        },
    ]
}
