package import GatewayCore

/// What links bring.
extension GatewayNode: LinkOwner {
    package func identify(
        _ key: [UInt8],
        mayEnrol: @escaping () -> Bool = { true },
        _ completion: @escaping (IdentifiedDevice?) -> Void
    ) {
        begin(.identify(mayEnrol: mayEnrol, completion)) { .identify($0, key: key) }
    }

    package func number(of bundle: String) -> AppNumber? { driver.apps.number(of: bundle) }

    package func connected(_ device: DeviceID, _ link: LinkID, _ condition: DeviceCondition) {
        feed(.connected(device, link, condition))
    }

    package func disconnected(_ link: LinkID) { feed(.disconnected, over: link) }

    package func register(_ bundle: String, renewing: Bool, over link: LinkID) {
        feed(.register(bundle, renewing: renewing), over: link)
    }

    package func subscribe(_ bundle: String, key: [UInt8]?, over link: LinkID) {
        feed(.subscribe(bundle, key: key), over: link)
    }

    package func unregister(_ bundle: String, over link: LinkID) {
        feed(.unregister(bundle), over: link)
    }

    package func follow(
        _ channel: ChannelID,
        of bundle: String,
        last: UInt64,
        over link: LinkID
    ) {
        feed(.follow(channel, bundle: bundle, last: last), over: link)
    }

    package func unfollow(_ channel: ChannelID, over link: LinkID) {
        feed(.unfollow(channel), over: link)
    }

    package func acknowledged(_ sending: SendingID, over link: LinkID) {
        feed(.acknowledged(sending), over: link)
    }

    package func refused(_ sending: SendingID, over link: LinkID) {
        feed(.refused(sending), over: link)
    }

    package func keptAlive(_ link: LinkID, _ condition: DeviceCondition?) {
        feed(.keptAlive(condition), over: link)
    }

    package func changed(_ link: LinkID, _ condition: DeviceCondition) {
        feed(.changed(condition), over: link)
    }

    package func opened(_ app: AppNumber, over link: LinkID) { feed(.opened(app), over: link) }

    package func reported(silentLeft: Int, of app: AppNumber, over link: LinkID) {
        feed(.reported(silentLeft: silentLeft, app), over: link)
    }

    package func congested(_ link: LinkID, _ isCongested: Bool) {
        feed(.congested(isCongested), over: link)
    }
}

extension LinkServer: DeviceLinks {}

/// What the operator and providers change. Who asks is told when it is on the disk, or why it is
/// not.
extension GatewayNode {
    package func remove(
        _ device: DeviceID,
        _ completion: @escaping (OperationProblem?) -> Void
    ) {
        begin(.change(completion)) { .removeDevice(device, $0) }
    }

    package func removeApp(
        _ bundle: String,
        _ completion: @escaping (OperationProblem?) -> Void
    ) {
        begin(.change(completion)) { .removeApp(bundle, $0) }
    }

    package func create(
        _ id: ChannelID,
        of bundle: String,
        keepsNewest: Bool,
        _ completion: @escaping (OperationProblem?) -> Void
    ) {
        begin(.change(completion)) {
            .createChannel(id, bundle: bundle, keepsNewest: keepsNewest, $0)
        }
    }

    package func remove(_ id: ChannelID, _ completion: @escaping (OperationProblem?) -> Void) {
        begin(.change(completion)) { .removeChannel(id, $0) }
    }

    package func useApps(allowed: [String]?, named: [String]) {
        use { $0.useApps(allowed: allowed, named: named) }
    }

    package func setLimits(_ limits: GatewayLimits) { use { $0.use(limits) } }

    package func push(_ admitted: AdmittedPush, for call: CallID) {
        feed(.push(admitted, call))
    }
}
