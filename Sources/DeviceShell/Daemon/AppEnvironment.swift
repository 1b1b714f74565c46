internal import DeviceCore
internal import Linux
internal import Vocabulary

/// The clean environment that apps are started with: the usual names, those that the manifest
/// asks for, what it sets, and what we set.
enum AppEnvironment {
    private static let usual = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "DBUS_SESSION_BUS_ADDRESS",
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
    ]

    /// As `NAME=value`, each name once. `ours` are the variables of our own: nothing else gives a
    /// value to a name that is ours, whatever an older daemon has stored.
    static func build(
        _ spec: ProcessSpec,
        from own: [String],
        ours: [EnvironmentVariable]
    ) -> [String] {
        var values: [(name: String, value: String)] = []
        func set(_ name: String, _ value: String) {
            values.removeAll { $0.name == name }
            values.append((name, value))
        }
        for entry in own {
            guard let equals = entry.firstIndex(of: "=") else { continue }
            let name = String(entry[..<equals])
            if EnvironmentVariable.isOurs(name) { continue }
            if isUsual(name) || spec.passEnvironment.contains(where: { name.matches($0) }) {
                set(name, String(entry[entry.index(after: equals)...]))
            }
        }
        if !values.contains(where: { $0.name == "PATH" }) {
            set("PATH", "/usr/local/bin:/usr/bin:/bin")
        }
        for variable in spec.environment where !EnvironmentVariable.isOurs(variable.name) {
            set(variable.name, variable.value)
        }
        for variable in ours { set(variable.name, variable.value) }
        return values.map { "\($0.name)=\($0.value)" }
    }

    private static func isUsual(_ name: String) -> Bool {
        usual.contains(name) || name.hasPrefix("LC_") || name.hasPrefix("XDG_")
    }
}

extension String {
    /// Whether it is the name that a pattern means; `*` at the end is any.
    fileprivate func matches(_ pattern: String) -> Bool {
        pattern.utf8.last == UInt8(ascii: "*")
            ? hasPrefix(pattern.dropLast()) : self == pattern
    }
}
