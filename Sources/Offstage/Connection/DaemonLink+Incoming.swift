internal import AppProtocol
internal import Linux
internal import SystemBus
internal import Vocabulary

/// What the daemon calls on the app's object. Receipts are given here, at once, however busy the
/// app is; its own work is done on its own threads.
extension DaemonLink {
    func received(_ incoming: ObjectCall) {
        do throws(OptionError) {
            guard let row = AppObject1.row(incoming.method.name) else {
                return incoming.refuse(ErrorName.unknownMethod, "no such method")
            }
            perform(try row.call(incoming.arguments), incoming)
        } catch {
            incoming.refuse(ControlErrorName.invalid.rawValue, "\(error.reason): \(error.value)")
        }
    }

    private func perform(_ call: AppObject1, _ incoming: ObjectCall) {
        switch call {
        case .offer(let call): offered(call, incoming)
        case .go(let call): go(call, incoming)
        case .expire(let call):
            owner.expire(delivery: call.delivery, deadline: call.deadline)
            finish(incoming)
        case .expireTask(let call):
            owner.expire(task: call.task, deadline: call.deadline)
            finish(incoming)
        case .enterBackground(let call):
            owner.enterBackground(
                deadline: call.deadline,
                work: call.work ?? [],
                keep(incoming)
            )
        case .enterForeground: owner.enterForeground(keep(incoming))
        case .becomeActive: owner.becomeActive(keep(incoming))
        case .memoryWarning:
            owner.memoryWarning()
            finish(incoming)
        case .changed(let call):
            if let status = call.backgroundRefresh { owner.changed(backgroundRefresh: status) }
            finish(incoming)
        }
    }

    private func go(_ call: AppObject1.Go, _ incoming: ObjectCall) {
        guard let delivery = deliveries[call.delivery] else {
            return incoming.refuse(
                ControlErrorName.notFound.rawValue,
                "delivery \(call.delivery) was not accepted by this process"
            )
        }
        // It comes again after a connection was lost.
        if case .accepted = delivery.progress {
            deliveries[call.delivery]?.progress = .running
            var work = delivery.work
            work.deadline = call.deadline
            owner.run(work)
        }
        finish(incoming)
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

    private func offered(_ call: AppObject1.Offer, _ incoming: ObjectCall) {
        guard deliveries[call.delivery] == nil else { return finish(incoming) }
        guard let kind = WorkKind(rawValue: call.kind), owner.canRun(kind, call.identifier) else {
            return incoming.refuse(
                ControlErrorName.notFound.rawValue,
                "nothing is registered for \(call.identifier)"
            )
        }
        forgetNeverBegun()
        let work = AcceptedWork(
            delivery: call.delivery,
            kind: kind,
            identifier: call.identifier,
            deadline: nil
        )
        deliveries[call.delivery] = (work, .accepted)
        finish(incoming)
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
