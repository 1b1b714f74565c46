internal import DeviceCore
internal import Vocabulary

extension ServiceRow {
    /// The screen lock, and whether anybody uses the machine
    /// (https://www.freedesktop.org/software/systemd/man/org.freedesktop.login1.html).
    static let logind = ServiceRow(
        source: .logind,
        name: "org.freedesktop.login1",
        rereadAfter: ["SessionNew", "SessionRemoved", "UserNew", "UserRemoved"].map {
            ServiceMember(object: Logind.manager, member: $0)
        },
        conditions: [.locked, .idle],
        objects: { Logind.objects($0, of: $1.user) },
        read: { Logind.read($0, of: $1.user) }
    )
}

enum Logind {
    static let manager = ServiceObject(
        path: "/org/freedesktop/login1",
        interface: "org.freedesktop.login1.Manager"
    )
    static let seat = ServiceObject(
        path: "/org/freedesktop/login1/seat/seat0",
        interface: "org.freedesktop.login1.Seat"
    )

    /// There while the user is logged in, or lingers.
    static func user(_ number: UInt32) -> ServiceObject {
        // A path has a letter or an underscore first.
        ServiceObject(
            path: "/org/freedesktop/login1/user/_\(number)",
            interface: "org.freedesktop.login1.User"
        )
    }

    private static func session(_ path: String) -> ServiceObject {
        ServiceObject(path: path, interface: "org.freedesktop.login1.Session")
    }

    static func objects(_ known: ServiceObjects, of user: UInt32) -> [ServiceObject] {
        let own = sessions(known, of: user)
        let others = [sessionAtScreen(known)].compactMap(\.self).filter { !own.contains($0) }
        return [seat, Self.user(user)] + own + others
    }

    /// The session that has the screen and the keyboard of the machine; it may be another user's.
    private static func sessionAtScreen(_ known: ServiceObjects) -> ServiceObject? {
        // Without one the path is that of no object.
        known.value("ActiveSession", of: seat)?.listValue?.last?.stringValue
            .flatMap { $0 == "/" ? nil : session($0) }
    }

    private static func sessions(_ known: ServiceObjects, of user: UInt32) -> [ServiceObject] {
        (known.value("Sessions", of: Self.user(user))?.listValue ?? [])
            .compactMap { $0.listValue?.last?.stringValue }.map(session)
    }

    /// A session in which a person works, or could.
    private struct Session {
        let isGraphical: Bool
        let isLocked: Bool
        let isIdle: Bool
        /// Whether its desktop has ever said if it is idle: some never do.
        let tellsIdle: Bool

        init?(_ map: ValueMap) {
            guard map["Class"]?.stringValue == "user", map["State"]?.stringValue != "closing"
            else { return nil }
            isGraphical = ["x11", "wayland", "mir"].contains(map["Type"]?.stringValue)
            isLocked = map["LockedHint"]?.boolValue ?? false
            isIdle = map["IdleHint"]?.boolValue ?? false
            let since = map["IdleSinceHint"]?.integerValue ?? 0
            tellsIdle = isIdle || since != 0
        }
    }

    static func read(_ objects: ServiceObjects, of user: UInt32) -> [Condition: Reading] {
        // No user: the daemon is not part of a login of systemd's.
        guard objects[Self.user(user)] != nil else { return [:] }
        let own = sessions(objects, of: user)
        let known = own.map { objects[$0] }
        // Some are still being read.
        guard known.allSatisfy({ $0 != nil }) else { return [:] }
        let sessions = known.compactMap { $0 }.compactMap(Session.init)
        // Who sits at the machine uses it, whoever it is. What others do from afar is their load.
        let stranger = sessionAtScreen(objects).flatMap { own.contains($0) ? nil : objects[$0] }
            .flatMap(Session.init)
        let isHeadless = objects.value("CanGraphical", of: seat)?.boolValue != true
        return [
            .locked: locked(sessions, isHeadless: isHeadless),
            .idle: idle(sessions + [stranger].compactMap(\.self), isHeadless: isHeadless),
        ]
    }

    private static func locked(_ sessions: [Session], isHeadless: Bool) -> Reading {
        let graphical = sessions.filter(\.isGraphical)
        // A terminal beside a locked screen does not unlock it.
        if !graphical.isEmpty { return .value(graphical.allSatisfy(\.isLocked) ? 1 : 0) }
        if !sessions.isEmpty { return .value(0) }
        // Lingering, and nobody has logged in yet. Of a machine without a screen nobody expects it.
        return isHeadless ? .noDevice : .value(2)
    }

    private static func idle(_ sessions: [Session], isHeadless: Bool) -> Reading {
        if sessions.isEmpty { return isHeadless ? .silent : .value(1) }
        // logind computes a terminal's hint only when it is asked, and signals no change.
        let graphical = sessions.filter(\.isGraphical)
        if graphical.contains(where: { !$0.isIdle && !$0.isLocked && $0.tellsIdle }) {
            return .value(0)
        }
        // A locked screen is one that nobody looks at.
        let areIdle = graphical.allSatisfy { $0.isIdle || $0.isLocked }
        return areIdle && !graphical.isEmpty ? .value(1) : .silent
    }
}
