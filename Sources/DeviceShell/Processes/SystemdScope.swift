internal import Linux
internal import Vocabulary

/// A scope of the apps' own, made by the user's systemd: a cgroup that is delegated to us and that
/// no restart of our service touches.
enum SystemdScope {
    /// How long systemd may take to make one.
    private static let patience = Interval.seconds(3)

    struct Made: ~Copyable {
        /// The kernel's directory of the scope.
        let path: String
        /// Holds the scope until the keeper is in it; our child, which ends by itself.
        let holder: PidFD?
    }

    /// The scope of the last daemon while something lives in it, else a new one; nil: there is no
    /// systemd here, or it would not.
    static func open(name: String, markers: LaunchMarkers) -> Made? {
        guard Files.exists("/run/systemd/system"), let mounts = try? Mounts(),
            mounts.cgroup2 != nil
        else { return nil }
        if let step = markers.recordedStep(), step.kind == .cgroup2,
            step.path.hasSuffix(".scope"), CgroupV2(step.path).isPopulated
        {
            return Made(path: step.path, holder: nil)
        }
        return make(name: name, mounts)
    }

    private static func make(name: String, _ mounts: Mounts) -> Made? {
        let searchPath = CurrentProcess.environment("PATH") ?? "/usr/bin:/bin"
        guard let program = Files.executable("systemd-run", searchPath: searchPath) else {
            return nil
        }
        let unit = name + ".scope"
        var arguments = [
            "systemd-run", "--scope", "--quiet", "--collect", "--unit=\(unit)",
            "--property=Delegate=yes", "--description=Apps of Offstage",
        ]
        if CurrentProcess.user != 0 { arguments.append("--user") }
        arguments += ["sleep", "60"]
        let start = Program(
            program,
            arguments: arguments,
            environment: CurrentProcess.environment()
        )
        guard let holder = try? start.start() else { return nil }
        let end = Clocks.boot() + patience
        while Clocks.boot() < end, !holder.hasExited {
            if let own = try? CgroupV2.of(holder.pid, in: mounts), own.path.hasSuffix(unit) {
                return Made(path: own.path, holder: holder)
            }
            // Nothing tells when a process is moved; this happens once, at the first start.
            _ = Poll.ready(holder.descriptor.number, for: .readable, milliseconds: 10)
        }
        try? holder.send(Signal.kill)
        _ = try? holder.wait(block: true)
        return nil
    }
}
