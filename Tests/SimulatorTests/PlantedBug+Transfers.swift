import ClientCore
import DeviceCore
import Vocabulary

extension PlantedBug {
    /// Bugs about transfers, of the core and of the network process.
    static let transfers = exchanges + parts + moves

    private static let exchanges: [PlantedBug] = [
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
        PlantedBug(
            "a gap counts as a range that is there",
            "a downloaded file is one version, and whole"
        ).with {
            $0.notices = "joins"
            $0.days = 20
            $0.event = { event in
                guard case .transfer(let id, .ranges(let ranges)) = event, let last = ranges.last
                else { return [event] }
                return [.transfer(id, .ranges([1..<last.upperBound]))]
            }
        },
        PlantedBug(
            "what was said of a file is not stored with its part",
            "a downloaded file is one version, and whole"
        ).with {
            $0.notices = "is of no time"
            $0.days = 20
            $0.changes = { $0.map(\.withoutHead) }
        },
        PlantedBug(
            "a download takes more connections than there are",
            "transfers run when they may"
        ).with {
            $0.notices = "has more connections"
            $0.days = 10
            $0.effect = { effect, _ in
                guard case .transfer(let id, .begin(var order, let file)) = effect else {
                    return [effect]
                }
                order.moreConnections += 3
                return [.transfer(id, .begin(order, file))]
            }
        },
        PlantedBug("transfers begin without limit", "transfers run when they may").with {
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
            "a transfer that a server has refused is tried again unasked",
            "what a transfer asks its app it waits for"
        ).with {
            $0.days = 20
            $0.event = { event in
                guard case .transfer(let id, .ended(.challenged, let durable)) = event else {
                    return [event]
                }
                return [.transfer(id, .ended(.interrupted(.init(.connection)), durable: durable))]
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

    private static let partRule = "what has come of a download is used once, by its own app"
    private static let removeRule = "nothing is left of a download that is over"
    private static let moveRule = "a file is in the one place that the user has named"

    /// Bugs about what is kept of unfinished files.
    private static let parts: [PlantedBug] = [
        PlantedBug("a part stays on record when it was used", partRule).with {
            $0.notices = " after "
            $0.days = 20
            $0.changes = { changes in
                changes.filter { change in
                    guard case .delete(let key) = change else { return true }
                    return key.section != .transfer
                }
            }
        },
        PlantedBug("bytes go into the file of another transfer", partRule).with {
            $0.notices = "not its own"
            $0.days = 5
            $0.effect = { effect, _ in
                guard case .transfer(let id, .begin(let order, var file)) = effect else {
                    return [effect]
                }
                file.partialName = ".offstage-\(TransferID(id.number - 1)).part"
                return [.transfer(id, .begin(order, file))]
            }
        },
        PlantedBug("what has come of a cancelled download stays", removeRule).with {
            $0.notices = "still there"
            $0.days = 5
            $0.effect = { effect, _ in
                if case .transfer(_, .discard) = effect { [] } else { [effect] }
            }
        },
        // It begins with the number of the transfer.
        PlantedBug("a token is taken from whoever has it", partRule).with {
            $0.notices = "has fetched"
            $0.days = 20
            $0.event = { event in
                guard
                    case .app(
                        let launch,
                        .session(let session, .enqueue(let orders, let token), let reply)
                    ) = event
                else { return [event] }
                let asked = SessionRequest.enqueue(orders.map(\.withToken), token: token)
                return [.app(launch, .session(session, asked, reply: reply))]
            }
            $0.effect = { effect, _ in
                guard case .transfer(let id, .begin(let order, var file)) = effect,
                    let token = order.headers.value(of: "X-Part")
                else { return [effect] }
                file.partialName = ".offstage-\(token.prefix { $0 != "-" }).part"
                return [.transfer(id, .begin(order, file))]
            }
        },
        PlantedBug("what is gone on with is taken for another version", partRule).with {
            $0.notices = "takes"
            $0.days = 10
            $0.effect = { effect, _ in
                guard case .transfer(let id, .begin(var order, let file)) = effect else {
                    return [effect]
                }
                order.resume?.validator = .entityTag("\"99\"")
                return [.transfer(id, .begin(order, file))]
            }
        },
    ]

    /// Bugs about files that are moved while they are fetched.
    private static let moves: [PlantedBug] = [
        PlantedBug("a move is forgotten", moveRule).with {
            $0.notices = "not "
            $0.days = 20
            $0.effect = { effect, _ in
                switch effect {
                case .transfer(let id, .begin(let order, var file)):
                    (file.directory, file.formers) = ("/home", [])
                    return [.transfer(id, .begin(order, file))]
                case .transfer(let id, .place(var placement)):
                    (placement.file.directory, placement.file.formers) = ("/home", [])
                    return [.transfer(id, .place(placement))]
                case let other: return [other]
                }
            }
        },
        PlantedBug("what was fetched before a move stays where it was", moveRule).with {
            $0.notices = "too"
            $0.days = 20
            $0.effect = { effect, _ in
                guard case .transfer(let id, .begin(let order, var file)) = effect else {
                    return [effect]
                }
                file.formers = []
                return [.transfer(id, .begin(order, file))]
            }
        },
        PlantedBug("a file is removed from where it has been moved to", moveRule).with {
            $0.notices = "nowhere"
            $0.days = 20
            $0.effect = { effect, _ in
                guard case .transfer(let id, .place(let placement)) = effect,
                    placement.file.directory != "/home"
                else { return [effect] }
                let file = TransferFile(
                    directory: placement.file.directory,
                    partialName: placement.name
                )
                return [effect, .transfer(id, .discard(file))]
            }
        },
    ]
}

extension Change {
    /// As an older version stored a transfer.
    fileprivate var withoutHead: Change {
        guard case .put(let record) = self, record.key.section == .transfer,
            var fields = record.value.mapValue, var transfer = fields["transfer"]?.mapValue,
            var part = transfer["resume"]?.mapValue
        else { return self }
        part["head"] = nil
        transfer["resume"] = .map(part)
        fields["transfer"] = .map(transfer)
        return (try? .put(Record(record.key, .map(fields)))) ?? self
    }
}

/// Low-data mode is not seen, or seen where there is none.
extension PlantedBug {
    static func missesLowData(_ rule: String, _ notices: String) -> PlantedBug {
        PlantedBug("low-data mode is not seen: \(notices)", rule).with {
            ($0.notices, $0.days) = (notices, 10)
            $0.event = {
                switch $0 {
                case .condition(.lowData, _, _): return []
                case .started(var start):
                    start.conditions.removeAll { $0.condition == .lowData }
                    return [.started(start)]
                case let other: return [other]
                }
            }
        }
    }

    static let seesLowData = [
        PlantedBug("low-data mode is seen where there is none", "what does not run has a reason")
            .with {
                ($0.notices, $0.days) = ("low-data mode is on (metered)", 8)
                $0.event = { event in
                    guard case .started = event else { return [event] }
                    return [event, .condition(.lowData, .upower, .value(1))]
                }
            }
    ]
}

extension SessionOrder {
    /// Its token is with what is asked of the server, and the device does not see it.
    fileprivate var withToken: SessionOrder {
        guard let resume else { return self }
        var order = order
        order.headers.append(HTTPField("X-Part", resume))
        return SessionOrder(task: task, order: order)
    }
}
