internal import DeviceCore
internal import SystemBus
internal import Vocabulary

/// Whether anybody uses the machine, as the desktop reports it on the user's session bus. Needed
/// for desktops that never set logind's idle hint.
@safe
final class DesktopIdle: ServiceBus.Client {
    private let bus: ServiceBus
    private let report: (Reading) -> Void
    private var services: [any DesktopService] = []
    private var said = Reading.silent
    /// Time without input until the machine is idle. Mutter lets us choose it.
    var patience = Settings().idlePatience {
        didSet {
            guard patience != oldValue else { return }
            for service in services { service.wait(for: patience) }
        }
    }

    init(_ bus: ServiceBus, report: @escaping (Reading) -> Void) {
        (self.bus, self.report) = (bus, report)
        bus.add(self)
    }

    func connected(_ bus: Bus) throws(BusError) {
        let changed = { [unowned self] in
            self.bus.worked()
            tell()
        }
        services = [try IdleMonitor(on: bus, patience: patience, changed: changed)]
        for place in ScreenSaver.places {
            services.append(try ScreenSaver(place, on: bus, changed: changed))
        }
    }

    func disconnected() {
        services = []
        tell()
    }

    func machineSleeps() { for service in services { service.machineSleeps() } }

    /// The first source that knows takes precedence.
    private func tell() {
        let known = services.lazy.compactMap(\.isIdle).first
        let reading: Reading
        switch (known, said) {
        case (let isIdle?, _): reading = .value(isIdle ? 1 : 0)
        case (nil, .silent): reading = .silent
        case (nil, _): reading = .lost
        }
        guard reading != said else { return }
        said = reading
        report(reading)
    }
}

protocol DesktopService: AnyObject {
    /// Nil: it does not know, or is not there.
    var isIdle: Bool? { get }
    func machineSleeps()
    func wait(for patience: Interval)
}

extension DesktopService {
    func machineSleeps() {}
    func wait(for patience: Interval) {}
}

/// Mutter's (GNOME, Phosh). It reports a given time without input, and the next input after that
/// (https://gitlab.gnome.org/GNOME/mutter, data/dbus-interfaces/org.gnome.Mutter.IdleMonitor.xml).
@safe
final class IdleMonitor: DesktopService {
    static let name = "org.gnome.Mutter.IdleMonitor"
    static let core = ServiceObject(path: "/org/gnome/Mutter/IdleMonitor/Core", interface: name)

    private let bus: Bus
    private var patience: Interval
    private let changed: () -> Void
    private var watch: NameWatch?
    private var signal: Subscription?
    /// Ids of Mutter's watches: the first fires each time, the second once.
    private var idleWatch: Int64?
    private var inputWatch: Int64?
    /// Mutter takes the end of a sleep for input: the watch that fires then tells of nobody.
    private var firesAfterSleep = false
    /// Answers to what was asked before the last beginning come too late.
    private var round = 0
    private(set) var isIdle: Bool?

    init(
        on bus: Bus,
        patience: Interval,
        changed: @escaping () -> Void
    ) throws(BusError) {
        (self.bus, self.patience, self.changed) = (bus, patience, changed)
        signal = try bus.onSignal(
            "WatchFired",
            of: Self.core.interface,
            at: Self.core.path,
            from: Self.name
        ) { [unowned self] message in
            guard message.sender == watch?.owner else { return }
            fired(message.arguments.first?.integerValue)
        }
        watch = try NameWatch(Self.name, on: bus) { [unowned self] in found($0) }
    }

    private func found(_ isThere: Bool) {
        (idleWatch, inputWatch, isIdle) = (nil, nil, nil)
        firesAfterSleep = false
        guard isThere else { return changed() }
        begin()
    }

    func wait(for patience: Interval) {
        self.patience = patience
        for number in [idleWatch, inputWatch].compactMap(\.self) { remove(number) }
        (idleWatch, inputWatch) = (nil, nil)
        if watch?.owner != nil { begin() }
    }

    private func remove(_ number: Int64) {
        ask("RemoveWatch", [.integer(number)], "u") { _ in }
    }

    private func begin() {
        round += 1
        let milliseconds = patience.nanoseconds / 1_000_000
        ask("AddIdleWatch", [.integer(milliseconds)], "t") { [unowned self] in idleWatch = $0 }
        // The idle time may have begun before the watch.
        ask("GetIdletime") { [unowned self] time in set(time >= milliseconds) }
    }

    private func fired(_ number: Int64?) {
        guard let number else { return }
        if number == idleWatch {
            set(true)
        } else if number == inputWatch {
            inputWatch = nil
            set(firesAfterSleep)
            firesAfterSleep = false
        }
    }

    /// Also when the answer with the watch's id is still to come.
    func machineSleeps() { firesAfterSleep = isIdle == true }

    private func set(_ new: Bool) {
        if new, inputWatch == nil {
            ask("AddUserActiveWatch") { [unowned self] in inputWatch = $0 }
        }
        guard isIdle != new else { return }
        isIdle = new
        changed()
    }

    private func ask(
        _ member: String,
        _ arguments: [Value] = [],
        _ signature: String = "",
        answered: @escaping (Int64) -> Void
    ) {
        let (owner, round) = (watch?.owner, round)
        // Without an answer this source stays silent.
        try? bus.call(
            Target(owner, Self.core.path, Self.core.interface, member),
            arguments,
            signature: signature
        ) { [weak self] answer in
            guard let self, watch?.owner == owner, case .success(let values) = answer,
                let number = values.first?.integerValue
            else { return }
            if round == self.round { return answered(number) }
            if member.hasPrefix("Add") { remove(number) }
        }
    }
}

/// A screen saver: while it is active, nobody looks at the screen. One that has never been active
/// may be disabled, so until then its inactive state is ignored.
@safe
final class ScreenSaver: DesktopService {
    /// Each is its bus name as well.
    static let places = [
        ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
        ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
        ("org.mate.ScreenSaver", "/org/mate/ScreenSaver"),
        ("org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"),
    ].map { ServiceObject(path: $1, interface: $0) }

    private let place: ServiceObject
    private let bus: Bus
    private let changed: () -> Void
    private var watch: NameWatch?
    private var signal: Subscription?
    private(set) var isIdle: Bool?

    init(_ place: ServiceObject, on bus: Bus, changed: @escaping () -> Void) throws(BusError) {
        (self.place, self.bus, self.changed) = (place, bus, changed)
        signal = try bus.onSignal(
            "ActiveChanged",
            of: place.interface,
            at: place.path,
            from: place.interface
        ) { [unowned self] message in
            guard message.sender == watch?.owner else { return }
            took(message.arguments.first?.boolValue)
        }
        watch = try NameWatch(place.interface, on: bus) { [unowned self] in found($0) }
    }

    private func found(_ isThere: Bool) {
        isIdle = nil
        guard isThere, let owner = watch?.owner else { return changed() }
        let target = Target(owner, place.path, place.interface, "GetActive")
        try? bus.call(target) { [weak self] answer in
            guard let self, watch?.owner == owner, case .success(let values) = answer else {
                return
            }
            took(values.first?.boolValue)
        }
    }

    private func took(_ isActive: Bool?) {
        guard let isActive, isActive || isIdle != nil, isIdle != isActive else { return }
        isIdle = isActive
        changed()
    }
}
