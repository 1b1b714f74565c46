internal import SystemBus
internal import Vocabulary

/// Keeps the desktop from locking the screen, or switching it off, for want of input: by logind,
/// which some desktops ask, and by the desktop's own screen saver.
@safe
final class IdleInhibition {
    static let reason = "an app keeps the screen on"

    private let inhibitor = Inhibitor.ofIdleSleep(reason)
    private let screenSaver = ScreenSaverInhibitor(reason)

    init(system: ServiceBus, session: ServiceBus) {
        system.add(inhibitor)
        session.add(screenSaver)
    }

    func hold(_ hold: Bool) {
        inhibitor.hold(hold)
        screenSaver.hold(hold)
    }
}

/// An inhibition of the desktop's screen saver
/// (https://specifications.freedesktop.org/idle-inhibit-spec). It ends with our connection.
@safe
final class ScreenSaverInhibitor: ServiceBus.Client {
    static let object = ServiceObject(
        path: "/org/freedesktop/ScreenSaver",
        interface: "org.freedesktop.ScreenSaver"
    )

    private let reason: String
    private var bus: Bus?
    private var watch: NameWatch?
    private var isWanted = false
    private var isAsked = false
    /// By which it is given back; nil: not held, or not yet.
    private var cookie: Int64?

    init(_ reason: String) { self.reason = reason }

    func connected(_ bus: Bus) throws(BusError) {
        self.bus = bus
        // Its bus name is that of its interface.
        watch = try NameWatch(Self.object.interface, on: bus) { [unowned self] isThere in
            // What another one was asked is gone with it.
            (cookie, isAsked) = (nil, false)
            if isThere { ask() }
        }
    }

    func disconnected() {
        (bus, watch, cookie, isAsked) = (nil, nil, nil, false)
    }

    func hold(_ hold: Bool) {
        isWanted = hold
        if hold { ask() } else { giveBack() }
    }

    private func ask() {
        guard isWanted, cookie == nil, !isAsked, let bus, let owner = watch?.owner else { return }
        let arguments: [Value] = [.string(Inhibitor.name), .string(reason)]
        do throws(BusError) {
            try bus.call(target(owner, "Inhibit"), arguments, signature: "ss") {
                [weak self] answer in
                guard let self, watch?.owner == owner else { return }
                isAsked = false
                // One that refuses has no other means: logind's is held too.
                guard case .success(let values) = answer else { return }
                cookie = values.first?.integerValue
                // It was not answered before it was unwanted.
                if !isWanted { giveBack() }
            }
            isAsked = true
        } catch {
            // The connection is about to be lost, which is told by itself.
        }
    }

    private func giveBack() {
        guard let cookie, let bus, let owner = watch?.owner else { return }
        self.cookie = nil
        try? bus.call(target(owner, "UnInhibit"), [.integer(cookie)], signature: "u") { _ in }
    }

    private func target(_ owner: String, _ member: String) -> Target {
        Target(owner, Self.object.path, Self.object.interface, member)
    }
}
