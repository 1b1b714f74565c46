internal import Linux
internal import SystemBus
internal import Vocabulary

/// The environment that apps are started from: the daemon's own, and what the user's session has
/// told the service manager since. A service that is started when the user logs in, or when the
/// machine starts, has no display yet, and nobody tells it of one later.
@safe
final class SessionEnvironment {
    /// Names whose value is the session's, whatever this daemon began with.
    private static let names = [
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS",
        "XDG_CURRENT_DESKTOP", "XDG_SESSION_DESKTOP", "XDG_SESSION_TYPE", "XDG_SESSION_ID",
        "DESKTOP_SESSION", "SSH_AUTH_SOCK",
    ]
    private static let patience = Interval.seconds(1)
    /// So long an answer counts: starts come in groups.
    private static let validity = Interval.seconds(2)

    private let own: [String]
    /// Of the user's service manager; nil: it did not start us.
    private let socket: String?
    private var session: [String] = []
    private var askedAt: BootTime?

    init() {
        own = CurrentProcess.environment()
        let isService = CurrentProcess.environment("SYSTEMD_EXEC_PID") == "\(CurrentProcess.pid)"
        socket = CurrentProcess.environment("XDG_RUNTIME_DIR")
            .flatMap { isService ? $0 + "/systemd/private" : nil }
    }

    /// As `NAME=value`, each name once.
    func entries() -> [String] {
        if let socket, askedAt.map({ Clocks.boot() - $0 > Self.validity }) ?? true {
            // Without an answer the last one counts.
            if let answer = try? Self.ask(socket) { session = answer }
            askedAt = Clocks.boot()
        }
        return Self.merge(own, session)
    }

    /// Straight from the manager, so that no message bus is needed.
    private static func ask(_ socket: String) throws(BusError) -> [String] {
        let bus = try Bus.connect(toSocket: socket, timeout: patience)
        let value = try bus.property(
            "Environment",
            of: (
                destination: nil, path: "/org/freedesktop/systemd1",
                interface: "org.freedesktop.systemd1.Manager"
            ),
            timeout: patience
        )
        return value.listValue?.compactMap(\.stringValue) ?? []
    }

    static func merge(_ own: [String], _ session: [String]) -> [String] {
        func name(_ entry: String) -> Substring { entry.prefix { $0 != "=" } }
        var entries = own
        for entry in session {
            let name = name(entry)
            guard let index = entries.firstIndex(where: { $0.hasPrefix(name + "=") }) else {
                entries.append(entry)
                continue
            }
            if names.contains(String(name)) { entries[index] = entry }
        }
        return entries
    }
}
