package import DeviceCore
package import Vocabulary

/// What callers asked for, by the number that each was answered with; and which launch and which
/// delivery the device has for which number. The latter it only says: `AsAskedFor` holds that
/// against what was started and offered.
package final class AskedWork {
    package struct Asked {
        let app: AppID
        let identifier: String
        let trigger: Trigger
        let needs: Needs
        /// One run uses it up.
        let isOnce: Bool
    }

    package struct Assignment {
        package let app: AppID
        package let request: UInt64
        package let launch: LaunchID
        /// Nil: of a command.
        package let delivery: DeliveryID?
        package let trigger: Trigger
        /// Nil: of a command.
        let identifier: String?
        /// The device says that it chose the moment by what it has learned.
        fileprivate(set) var isChosen = false
    }

    private(set) var byNumber: [UInt64: Asked] = [:]
    /// Those that nobody has a receipt for and whose end is not durable.
    private(set) var pending: [AppID: [UInt64]] = [:]
    private var calls: [ReplyToken: Asked] = [:]
    /// Received or over: not pending, whenever the answer to its caller is heard.
    private var settled: Set<UInt64> = []
    /// By launch or delivery.
    private var ofLaunch: [LaunchID: UInt64] = [:]
    private var ofDelivery: [DeliveryID: UInt64] = [:]
    /// Since the daemon, or the machine, began: the apps that a developer had run.
    private(set) var tested: [AppID: Int] = [:]
    /// Of these only the kind is known: they were asked for before a kill, and never answered.
    private var unanswered: [AppID: Set<String>] = [:]

    func asked(_ token: ReplyToken, _ event: Event, by caller: AppID?) {
        switch event {
        case .user(.run(let app, _), _), .user(.simulate(_, let app, _, _), _):
            tested[app, default: 0] += 1
        case .user, .app, .started, .timer, .clockChanged, .sleep, .manifests, .settings,
            .condition, .process, .used, .triggered, .transfer, .storageRecovered, .stopping:
            break
        }
        guard let submission = event.submission, let identifier = submission.identifier else {
            return
        }
        let app = caller ?? submission.app ?? AppID("command.\(identifier)")
        calls[token] = Asked(
            app: app,
            identifier: identifier,
            trigger: submission.kind.trigger,
            needs: submission.needs,
            isOnce: submission.every == nil
        )
        unanswered[app, default: []].insert(identifier)
    }

    func replied(_ token: ReplyToken, _ reply: Reply) {
        guard let asked = calls.removeValue(forKey: token), let number = reply.request,
            byNumber[number] == nil
        else { return }
        byNumber[number] = asked
        guard !settled.contains(number) else { return }
        pending[asked.app, default: []].append(number)
    }

    func committed(_ changes: [Change]) -> [Assignment] {
        var assigned: [Assignment] = []
        for change in changes {
            switch change {
            case .put(.launch(let record)):
                record.forEachAssignment {
                    if isNew($0) { assigned.append($0) }
                }
            case .delete(let key):
                if key.section == .request, let number = UInt64(key.key) { settle(number) }
            // Cancelled or replaced while a launch has it.
            case .put(.request(let record)) where record.request.isCancelled:
                settle(record.request.id.number)
            case .put, .append: break
            }
        }
        guard !assigned.isEmpty else { return assigned }
        for case .put(.request(let record)) in changes where record.request.decision != nil {
            for index in assigned.indices
            where assigned[index].request == record.request.id.number {
                assigned[index].isChosen = true
            }
        }
        return assigned
    }

    private func isNew(_ assignment: Assignment) -> Bool {
        if let delivery = assignment.delivery {
            guard ofDelivery[delivery] == nil else { return false }
            ofDelivery[delivery] = assignment.request
        } else {
            guard ofLaunch[assignment.launch] == nil else { return false }
            ofLaunch[assignment.launch] = assignment.request
        }
        return true
    }

    /// It is over, or the app's or the program's from now on.
    func settle(_ number: UInt64) {
        settled.insert(number)
        guard let app = byNumber[number]?.app else { return }
        pending[app]?.removeAll { $0 == number }
    }

    func request(of launch: LaunchID) -> UInt64? { ofLaunch[launch] }
    func request(of delivery: DeliveryID) -> UInt64? { ofDelivery[delivery] }

    /// Whether somebody may have asked for it.
    func mayHaveAsked(for identifier: String, of app: AppID) -> Bool {
        tested[app] != nil || unanswered[app]?.contains(identifier) == true
    }
}

extension LaunchRecord {
    fileprivate func forEachAssignment(_ body: (AskedWork.Assignment) -> Void) {
        if case .command(let request, let trigger) = launch.role {
            body(
                .init(
                    app: app,
                    request: request.number,
                    launch: id,
                    delivery: nil,
                    trigger: trigger,
                    identifier: nil
                )
            )
        }
        for delivery in launch.deliveries {
            guard let request = delivery.request else { continue }
            body(
                .init(
                    app: app,
                    request: request.number,
                    launch: id,
                    delivery: delivery.id,
                    trigger: delivery.trigger,
                    identifier: delivery.identifier
                )
            )
        }
    }
}

extension Reply {
    /// The number of the request that was made.
    var request: UInt64? {
        if case .requested(let task) = self { task.request.number } else { nil }
    }
}
