internal import EventLoop
internal import Linux
internal import Vocabulary

/// Sees which apps the desktop starts. It puts each into a unit of its own in the user's app.slice,
/// whose name has the desktop file id (https://systemd.io/DESKTOP_ENVIRONMENTS). These processes
/// are the desktop's: nothing of ours freezes or ends them.
@safe
final class DesktopUnits {
    private let kernel: FileWatches
    private let directory: String
    private let started: (AppID) -> Void
    private var watch: Int32?
    /// Of the directory above: the slice comes with its first app, and goes with its last.
    private var above: Int32?
    /// What was there when the slice was found: the kernel may tell of it as well.
    private var found: [String] = []

    /// The kernel's directory of the user's app.slice.
    static func directory(of user: UInt32) -> String? {
        guard let mounts = try? Mounts(), let tree = mounts.cgroup2 else { return nil }
        return "\(tree)/user.slice/user-\(user).slice/user@\(user).service/app.slice"
    }

    init(_ loop: EventLoop, _ directory: String, started: @escaping (AppID) -> Void) {
        (self.directory, self.started) = (directory, started)
        kernel = FileWatches(loop)
        kernel.happened = { [unowned self] in for event in $0 { take(event) } }
        renew()
    }

    /// Whether the user has a service manager that keeps units there.
    var isThere: Bool { watch != nil || above != nil }

    /// Why it is not watched although it is there; nil: it is.
    var problem: LinuxError? { kernel.problem }

    /// Tries again what the kernel would not, or where nothing was.
    func renew() {
        guard watch == nil || above == nil else { return }
        kernel.forgetProblem()
        above = above ?? kernel.add(Files.directory(of: directory), [.created])
        watch = watch ?? kernel.add(directory, [.created])
    }

    private func take(_ event: Inotify.Event) {
        if event.mask.contains(.ignored) {
            if event.watch == watch { watch = nil }
            if event.watch == above { above = nil }
        } else if !event.mask.contains(.created) {
            return
        } else if event.watch != above {
            // One that was found with its slice has been told of, once.
            if let index = found.firstIndex(of: event.name) {
                found.remove(at: index)
            } else {
                tell(event.name)
            }
        } else if event.name == Files.name(of: directory) {
            // Another one than before, and its first app may be in it already.
            watch = kernel.add(directory, [.created])
            found = (try? Files.list(directory)) ?? []
            for name in found { tell(name) }
        }
    }

    private func tell(_ unit: String) { if let app = Self.app(ofUnit: unit) { started(app) } }

    /// The app of a unit's name: `app-gnome-org.gnome.Podcasts-4711.scope`,
    /// `app-org.kde.kate@4711.service`; nil: it is no app that somebody started.
    static func app(ofUnit name: String) -> AppID? {
        let id: Substring
        if let scope = name.removing(suffix: ".scope") {
            // The last part is a number of the start.
            let parts = scope.split(separator: "-")
            guard parts.count == 3 || parts.count == 4, parts[0] == "app" else { return nil }
            id = parts[parts.count - 2]
        } else if let service = name.removing(suffix: ".service") {
            let halves = service.split(separator: "@", maxSplits: 1)
            let parts = halves[0].split(separator: "-")
            // What begins with the session is not the user's doing.
            guard parts.count == 2 || parts.count == 3, parts[0] == "app",
                halves.count == 1 || halves[1] != "autostart"
            else { return nil }
            id = parts[parts.count - 1]
        } else {
            return nil
        }
        return unescaped(id).map { AppID($0) }
    }

    /// systemd writes a byte that a part may not have as `\xHH`.
    private static func unescaped(_ part: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = part.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(3)
            guard digits.first == UInt8(ascii: "x"), digits.count == 3,
                let value = UInt8(String(decoding: digits.dropFirst(), as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(3)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    fileprivate func removing(suffix: String) -> Substring? {
        hasSuffix(suffix) ? dropLast(suffix.count) : nil
    }
}
