internal import AppProtocol
internal import Linux
internal import SystemBus
internal import Vocabulary

/// What the daemon calls on the app's object. Receipts are given here, at once, however busy the
/// app is; its own work is done on its own threads.
extension DaemonLink {
    func received(_ call: ObjectCall) {
        let arguments = call.arguments
        let number = arguments.first?.integerValue ?? 0
        let deadline = arguments.last?["deadline"]?.doubleValue
        switch call.method.name {
        case "Offer": offered(call, number)
        case "Go":
            guard let delivery = deliveries[number] else {
                return call.refuse(
                    ControlErrorName.notFound.rawValue,
                    "delivery \(number) was not accepted by this process"
                )
            }
            // It comes again after a connection was lost.
            if case .accepted = delivery.progress {
                deliveries[number]?.progress = .running
                var work = delivery.work
                work.deadline = deadline
                owner.run(work)
            }
            finish(call)
        case "Expire":
            owner.expire(delivery: number, deadline: deadline)
            finish(call)
        case "ExpireTask":
            owner.expire(task: number, deadline: deadline)
            finish(call)
        case "EnterBackground":
            let work = Self.deadlines(arguments.last?["work"])
            owner.enterBackground(deadline: deadline, work: work, keep(call))
        case "EnterForeground": owner.enterForeground(keep(call))
        case "BecomeActive": owner.becomeActive(keep(call))
        case "MemoryWarning":
            owner.memoryWarning()
            finish(call)
        case "Changed":
            if let status = arguments.last?["background-refresh"]?.stringValue {
                owner.changed(backgroundRefresh: status)
            }
            finish(call)
        default: call.refuse(ErrorName.unknownMethod, "no such method")
        }
    }

    /// By the delivery.
    private static func deadlines(_ work: Value?) -> [Int64: Double] {
        var deadlines: [Int64: Double] = [:]
        for end in work?.listValue ?? [] {
            guard let delivery = end["delivery"]?.integerValue else { continue }
            deadlines[delivery] = end["deadline"]?.doubleValue
        }
        return deadlines
    }

    /// More than a daemon has on their way at once: those of before were never begun.
    private static let acceptedLimit = 64

    private func forgetNeverBegun() {
        let accepted = deliveries.filter {
            if case .accepted = $0.value.progress { true } else { false }
        }
        guard accepted.count >= Self.acceptedLimit, let first = accepted.keys.min() else { return }
        deliveries[first] = nil
    }

    private func offered(_ call: ObjectCall, _ number: Int64) {
        guard deliveries[number] == nil else { return finish(call) }
        let identifier = call.arguments[2].stringValue ?? ""
        guard let kind = call.arguments[1].stringValue.flatMap(WorkKind.init(rawValue:)),
            owner.canRun(kind, identifier)
        else {
            return call.refuse(
                ControlErrorName.notFound.rawValue,
                "nothing is registered for \(identifier)"
            )
        }
        forgetNeverBegun()
        let work = Work(delivery: number, kind: kind, identifier: identifier, deadline: nil)
        deliveries[number] = (work, .accepted)
        finish(call)
    }

    private func keep(_ call: ObjectCall) -> IncomingNumber {
        lastIncoming += 1
        let number = IncomingNumber(number: lastIncoming)
        working[number] = call
        return number
    }

    /// One that cannot be answered is the end of the connection, which is told by itself.
    private func finish(_ call: ObjectCall) { try? call.answer() }
}
