internal import AppProtocol
internal import AppTranslation
internal import DeviceCore
internal import SystemBus
internal import Vocabulary

extension CallSet {
    /// The table's row of a call; only what the table has is served.
    static func row(of incoming: IncomingCall) throws(Refusal) -> CallRow<Self> {
        guard let row = row(incoming.method.name) else {
            throw Refusal(.invalid, reason: "there is no such method", value: incoming.method.name)
        }
        return row
    }
}

extension CallRow {
    func read(_ incoming: IncomingCall) throws(Refusal) -> Calls {
        do throws(OptionError) {
            return try call(incoming.arguments)
        } catch {
            throw Refusal(error)
        }
    }
}

extension IncomingCall {
    func answer<C: Call>(_ call: C, _ reply: C.Reply) {
        do throws(ValueError) {
            answer(try reply.sent)
        } catch {
            refuse(ErrorName.failed, "\(C.name) cannot be answered: \(error)")
        }
    }

    func answer<C: Call, Content>(_ call: C, _ report: Content)
    where C.Reply == Reported<Content> {
        answer(call, Reported(report))
    }

    func answer<C: Call, Row>(_ call: C, _ rows: [Row]) where C.Reply == [Reported<Row>] {
        answer(call, rows.map(Reported.init))
    }

    /// With what the core replied. `part`: what this method's reply is of it; a reply of another
    /// kind leaves the call without an answer, which is an error.
    func answer<C: Call>(_ call: C, _ reply: Reply, _ part: (Reply) -> C.Reply?) {
        if case .refused(let refusal) = reply { return refuse(refusal) }
        if let reply = part(reply) { answer(call, reply) }
    }

    /// The same to an app.
    func answer(_ call: App1, _ reply: Reply, permitted: [String] = []) {
        switch call.answer(reply, permitted: permitted) {
        case .success(let reply):
            do throws(ValueError) {
                answer(try reply.sent)
            } catch {
                refuse(ErrorName.failed, "it cannot be answered: \(error)")
            }
        case .failure(let refusal): refuse(refusal)
        case nil: break
        }
    }

    func refuse(_ refusal: Refusal) {
        refuse(refusal.code.errorName.rawValue, refusal.text)
    }
}

extension Reply {
    var done: Done? { if case .done = self { Done() } else { nil } }
    var requested: RequestedTask? { if case .requested(let task) = self { task } else { nil } }
    var enqueued: EnqueuedTransfers? {
        guard case .transfers(let ids) = self else { return nil }
        return EnqueuedTransfers(transfers: ids.map { Int64(clamping: $0.number) })
    }
    var opened: OpenedApp? { if case .opened(let app) = self { app } else { nil } }
}

extension Refusal {
    init(_ error: OptionError) {
        self.init(.invalid, reason: error.reason, value: error.value, fix: error.fix)
    }
}
