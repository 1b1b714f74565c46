internal import AppProtocol
internal import Vocabulary

/// What the daemon calls on the app's object. Receipts are given here, at once, however busy the
/// app is; its own work is done on its own threads.
extension Client {
    mutating func called(
        _ call: AppObject1,
        _ number: IncomingNumber,
        _ hasHandler: Bool,
        _ effects: inout [ClientEffect]
    ) {
        guard link == .up else { return }
        switch call {
        case .offer(let call): offered(call, number, hasHandler, &effects)
        case .go(let call): go(call, number, &effects)
        case .expire(let call):
            effects += [.expire(call.delivery, deadline: call.deadline), .reply(number)]
        case .expireTask(let call):
            effects += [.expireTask(call.task, deadline: call.deadline), .reply(number)]
        case .enterBackground(let call):
            working.append(number)
            effects.append(
                .enterBackground(deadline: call.deadline, work: call.work ?? [], number)
            )
        case .enterForeground:
            working.append(number)
            effects.append(.enterForeground(number))
        case .becomeActive:
            working.append(number)
            effects.append(.becomeActive(number))
        case .openURLs(let call):
            // It comes again after a connection was lost, or after the greeting.
            guard call.opening > lastOpening ?? 0 else { return effects.append(.reply(number)) }
            lastOpening = call.opening
            working.append(number)
            effects.append(.openURLs(call.urls, number))
        case .memoryWarning: effects += [.memoryWarning, .reply(number)]
        case .changed(let call):
            if let status = call.backgroundRefresh {
                effects.append(.changed(backgroundRefresh: status))
            }
            effects.append(.reply(number))
        case .conditionsChanged(let call):
            effects += [.conditionsChanged(call.conditions), .reply(number)]
        case .taskEnded(let call):
            working.append(number)
            effects.append(.taskEnded(session: call.session, call.end, number))
        case .taskProgressed(let call):
            effects += [
                .taskProgressed(session: call.session, call.progress), .reply(number),
            ]
        case .taskAsked(let call):
            effects += [.taskAsked(session: call.session, call.question), .reply(number)]
        }
    }

    /// The app has done what the daemon called for.
    mutating func done(_ number: IncomingNumber, _ effects: inout [ClientEffect]) {
        guard let index = working.firstIndex(of: number) else { return }
        working.remove(at: index)
        effects.append(.reply(number))
    }

    // MARK: Deliveries

    private func index(of delivery: DeliveryID) -> Int? {
        deliveries.firstIndex { $0.id == delivery }
    }

    private mutating func offered(
        _ call: AppObject1.Offer,
        _ number: IncomingNumber,
        _ hasHandler: Bool,
        _ effects: inout [ClientEffect]
    ) {
        guard index(of: call.delivery) == nil else { return effects.append(.reply(number)) }
        guard hasHandler else {
            let text = "nothing is registered for \(call.identifier)"
            return effects.append(.refuse(number, .notFound, text))
        }
        forgetNeverBegun()
        let work = ClientWork(
            delivery: call.delivery,
            kind: call.kind,
            identifier: call.identifier
        )
        deliveries.append(ClientDelivery(work: work))
        effects.append(.reply(number))
    }

    /// More than a daemon has on their way at once: those of before were never begun.
    private static let acceptedLimit = 64

    private mutating func forgetNeverBegun() {
        let accepted = deliveries.filter { $0.progress == .accepted }.map(\.id)
        guard accepted.count >= Self.acceptedLimit, let first = accepted.min() else { return }
        deliveries.removeAll { $0.id == first }
    }

    private mutating func go(
        _ call: AppObject1.Go,
        _ number: IncomingNumber,
        _ effects: inout [ClientEffect]
    ) {
        guard let index = index(of: call.delivery) else {
            let text = "delivery \(call.delivery) was not accepted by this process"
            return effects.append(.refuse(number, .notFound, text))
        }
        // It comes again after a connection was lost.
        if deliveries[index].progress == .accepted {
            deliveries[index].progress = .running
            deliveries[index].work.deadline = call.deadline
            effects.append(.run(deliveries[index].work))
        }
        effects.append(.reply(number))
    }

    mutating func complete(
        _ delivery: DeliveryID,
        _ result: TaskResult,
        _ effects: inout [ClientEffect]
    ) {
        guard let index = index(of: delivery) else { return }
        // The first word counts, however often it is said.
        if case .finished = deliveries[index].progress { return }
        deliveries[index].progress = .finished(result)
        // Without a connection the next hello says it.
        guard link == .up else { return }
        let call = App1.Complete { ($0.delivery, $0.result) = (delivery, result) }
        send(.complete(call), nextNumber(), .completion(delivery), &effects)
    }
}
