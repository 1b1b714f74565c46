package import Vocabulary

extension Gateway {
    /// An app of the device behind `link` wants its token. A registration in force is told again,
    /// unless `renewing`: the app was installed anew, and what was sent to it before is not its.
    package mutating func register(
        _ app: AppNumber,
        renewing: Bool,
        over link: LinkID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let device = self.device(of: link), let state = devices[device] else { return }
        guard let index = state.index(of: app) else {
            guard state.apps.count < limits.appsPerDevice else {
                effects.append(.registered(link, app, nil))
                return
            }
            let registration = Registration(app: app, generation: 1, isActive: true)
            devices[device]?.apps.append(
                DeviceState.App(
                    registration: registration,
                    silent: RefillBucket(silent: limits),
                    requests: RequestBucket(limits)
                )
            )
            touch(device)
            effects.append(.save(device, registration))
            effects.append(registered(link, device, registration))
            return
        }
        var registration = state.apps[index].registration
        if renewing || !registration.isActive {
            // In this order: what was kept for the old token never meets the new one.
            end(app, of: device, at: now, into: &effects)
            registration.renew(at: now.wall)
            devices[device]?.apps[index].registration = registration
            touch(device)
            effects.append(.save(device, registration))
        }
        effects.append(registered(link, device, registration))
        flushIfWanted(device, at: now, into: &effects)
    }

    /// An app of the device wants an address for a sender of Web Push. It is registered if it is
    /// not; the address ends with its token.
    package mutating func subscribe(
        _ app: AppNumber,
        key: [UInt8],
        over link: LinkID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        var registering: [GatewayEffect] = []
        register(app, renewing: false, over: link, at: now, into: &registering)
        for effect in registering {
            if case .registered(let link, let app, let token) = effect {
                effects.append(.subscribed(link, app, token, key: key))
            } else {
                effects.append(effect)
            }
        }
    }

    private func registered(
        _ link: LinkID,
        _ device: DeviceID,
        _ registration: Registration
    ) -> GatewayEffect {
        .registered(
            link,
            registration.app,
            DeviceToken(
                device: device,
                app: registration.app,
                generation: registration.generation
            )
        )
    }

    /// An app of the device wants no more pushes, or is gone: from now on its token is 410.
    package mutating func unregister(
        _ app: AppNumber,
        over link: LinkID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let device = self.device(of: link) else { return }
        end(app, of: device, at: now, into: &effects)
        effects.append(.unregistered(link, app))
        flushIfWanted(device, at: now, into: &effects)
    }

    /// The operator removed the device: no token of it is in force, its link ends.
    package mutating func remove(
        _ device: DeviceID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        if let link = devices[device]?.link {
            effects.append(.end(link, .removed))
            disconnected(link, at: now, into: &effects)
        }
        for app in devices[device]?.apps.map(\.registration.app) ?? [] {
            end(app, of: device, at: now, into: &effects)
        }
        devices[device]?.isGone = true
    }

    /// The operator wants the app gone, from devices that are known here and from their memory; the
    /// store forgets the rest.
    package mutating func forget(
        _ app: AppNumber,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        for id in channels.all(of: app) { remove(id, into: &effects) }
        for row in devices.states.indices {
            guard let index = devices.states[row].index(of: app) else { continue }
            if let link = devices.states[row].link, let device = device(of: link) {
                drop(device, index, at: now, into: &effects)
                effects.append(.unregistered(link, app))
            }
            devices.states[row].apps.remove(at: index)
        }
    }

    /// That the token ends is written before what was kept for it goes: a store may write the first
    /// changes of a batch that fails.
    mutating func end(
        _ app: AppNumber,
        of device: DeviceID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let index = devices[device]?.index(of: app),
            var registration = devices[device]?.apps[index].registration
        else { return }
        if registration.isActive {
            registration.end(at: now.wall)
            devices[device]?.apps[index].registration = registration
            touch(device)
            effects.append(.save(device, registration))
        }
        drop(device, index, at: now, into: &effects)
    }

    /// What is kept and on its way for an app is for nobody any more.
    private mutating func drop(
        _ device: DeviceID,
        _ index: Int,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let app = devices[device]?.apps[index] else { return }
        let number = app.registration.app
        for slot in app.slots {
            filling.dropped += 1
            touch(device)
            effects.append(.remove(SlotKey(device, number, place: slot.place), slot.number))
            effects.append(.logNumber(slot.number, .dropped(.unregistered), now.wall))
        }
        devices[device]?.apps[index].slots = []
        for flight in devices[device]?.flights ?? [] where flight.app == number {
            guard let push = flight.push else { continue }
            filling.dropped += 1
            effects.append(.log(push, .dropped(.unregistered), now.wall, nil))
            if let call = flight.call {
                effects.append(
                    .answer(
                        call,
                        .refused(.unregistered, timestamp: now.wall),
                        afterCommit: true
                    )
                )
            }
        }
        devices[device]?.flights.removeAll { $0.app == number }
    }
}
