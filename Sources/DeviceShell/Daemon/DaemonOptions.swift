internal import AppProtocol
internal import BuildIdentity
internal import Linux
internal import Vocabulary

/// The command line of `offstaged`.
package struct DaemonOptions {
    package var paths: DaemonPaths
    /// A cgroup v2 directory of ours for the apps.
    var scope: String?
    var step: ControlStep.Kind?
    var isClockVirtual = false

    package enum Reading {
        case run(DaemonOptions)
        case show(String)
    }

    private static let table: [Options.Option] = [
        .init("state", nil, .required), .init("runtime", nil, .required),
        .init("config", nil, .required), .init("data", nil, .required),
        .init("cgroup", nil, .required), .init("step", nil, .required),
        .init("power", nil, .required), .init("pressure", nil, .required),
        .init("power-supplies", nil, .required), .init("load", nil, .required),
        .init("routes", nil, .required), .init("thermal", nil, .required),
        .init("system-bus", nil, .required), .init("app-slice", nil, .required),
        .init("cpu-pressure", nil, .required),
        .init("administrator", nil, .required), .init("virtual-clock", nil),
        .init("help", "h"), .init("version", "V"),
    ]

    package static let help = """
        Usage: offstaged [OPTION]…
        Runs background work of the user it runs as. Usually the service manager starts it:
        systemctl --user start offstaged

          --state DIR      persistent state    [$XDG_STATE_HOME/offstage]
          --runtime DIR    the socket          [$XDG_RUNTIME_DIR/offstage]
          --config FILE    the settings        [$XDG_CONFIG_HOME/offstage/offstage.conf]
          --administrator FILE
                           settings that the user cannot change   [/etc/offstage/offstage.conf]
          --data DIR:DIR…  directories whose applications/ are searched for manifests
                           [$XDG_DATA_HOME and $XDG_DATA_DIRS]
          --cgroup DIR     a cgroup v2 directory for the apps, writable by this user
          --step STEP      only this kind of process control: cgroup-v2, cgroup-v1 or signals
          --power DIR      the kernel's wake locks    [/sys/power]
          --pressure FILE  the kernel's memory pressure, such as memory.pressure of a cgroup;
                           off: do not read it    [/proc/pressure/memory]
          --power-supplies DIR
                           the kernel's power supplies; off: do not read them
                                                  [/sys/class/power_supply]
          --routes DIR     the kernel's routes; off: do not read them           [/proc/net]
          --thermal DIR    the kernel's thermal zones; off: do not read them
                                                  [/sys/class/thermal]
          --system-bus ADDRESS
                           the bus of UPower, NetworkManager and logind; off: do not ask them
          --app-slice DIR  the cgroups of apps that the desktop starts; off: do not watch them
                           [app.slice of the user's manager]
          --load FILE      the kernel's load; off: do not read it   [/proc/loadavg]
          --cpu-pressure FILE
                           the kernel's processor pressure; off: do not read it
                                                  [/proc/pressure/cpu]
          --virtual-clock  a clock that "offstage simulate advance" moves on; not with the usual
                           state directory
          -h, --help       print help and exit
          -V, --version    print the version and exit

        Examples:
          offstaged                                    for the whole session
          mkdir -p ~/try/applications                  where manifests are looked for below
          offstaged --state ~/try/state --runtime ~/try/run --data ~/try
                                                       a second daemon, for experiments
          OFFSTAGE_SOCKET=~/try/run/socket offstage status
                                                       in another terminal

        """

    package static func read(_ arguments: [String]) throws(DaemonError) -> Reading {
        let options: Options
        do throws(Options.Failure) {
            options = try Options(arguments, table)
        } catch {
            let mistake =
                switch error {
                case .unknown(let word): "\(word): no such option"
                case .missingArgument(let word): "\(word): a value is missing"
                }
            throw .usage("offstaged: \(mistake)\nTry 'offstaged --help'.")
        }
        if options.has("help") { return .show(help) }
        if options.has("version") { return .show("offstaged \(Version.number)\n") }
        guard options.operands.isEmpty else {
            throw .usage(
                "offstaged: \(options.operands[0]): unexpected\nTry 'offstaged --help'."
            )
        }
        var step: ControlStep.Kind?
        if let name = options["step"] {
            step = ControlStep.Kind.allCases.first {
                $0.rawValue == name.replacing("-", with: " ")
            }
            guard step != nil else {
                throw .usage(
                    "offstaged: --step: \(name) is not a step; use cgroup-v2, cgroup-v1 or signals"
                )
            }
        }
        var scope: String?
        if let cgroup = options["cgroup"] {
            // As the kernel spells it: whose process one is is told by this path.
            scope = Files.resolved(cgroup)
            guard let scope, Files.status(scope)?.kind == .directory else {
                throw .usage("offstaged: --cgroup \(cgroup): there is no such directory")
            }
        }
        let paths = try Self.paths(options)
        let isClockVirtual = options.has("virtual-clock")
        if isClockVirtual, place(of: paths.state) == place(of: usualState(home: paths.home)) {
            throw .usage(
                "offstaged: --virtual-clock: \(paths.state.quoted) is the usual state directory, "
                    + "whose times are real; choose another with --state"
            )
        }
        return .run(
            DaemonOptions(paths: paths, scope: scope, step: step, isClockVirtual: isClockVirtual)
        )
    }

    private static func usualState(home: String) -> String {
        BaseDirectory.state.path(home: home) + "/offstage"
    }

    /// A path as the kernel spells it, of what may not be there yet.
    private static func place(of path: String) -> String {
        if let resolved = Files.resolved(path) { return resolved }
        let (directory, name) = (Files.directory(of: path), Files.name(of: path))
        guard directory != path else { return path }
        return name.isEmpty ? place(of: directory) : place(of: directory) + "/" + name
    }

    private static func paths(_ options: Options) throws(DaemonError) -> DaemonPaths {
        func environment(_ name: String) -> String? { CurrentProcess.environment(name) }
        func absolute(_ variable: String) -> String? {
            environment(variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let home = BaseDirectory.home()
        guard
            let runtime = options["runtime"]
                ?? absolute("XDG_RUNTIME_DIR").map({
                    $0 + "/offstage"
                })
        else {
            let value = environment("XDG_RUNTIME_DIR") ?? ""
            let mistake = value.isEmpty ? "not set" : "\(value.quoted), which is no absolute path"
            throw .usage(
                "offstaged: XDG_RUNTIME_DIR is \(mistake); set it to a directory of yours, as a "
                    + "login session does (/run/user/\(CurrentProcess.user)), or choose one with "
                    + "--runtime"
            )
        }
        let applications =
            options["data"].map {
                $0.split(separator: ":").map { $0 + "/applications" }
            }
            ?? DesktopFileID.directories(
                dataHome: environment("XDG_DATA_HOME"),
                dataDirectories: environment("XDG_DATA_DIRS"),
                home: home
            )
        var paths = DaemonPaths(
            state: options["state"] ?? usualState(home: home),
            runtime: runtime,
            configuration: options["config"]
                ?? BaseDirectory.configuration.path(home: home, environment: environment)
                + "/offstage/offstage.conf",
            applications: applications,
            home: home
        )
        if let power = options["power"] { paths.power = power }
        if let file = options["administrator"] { paths.administrator = file }
        let sensors: [(String, WritableKeyPath<DaemonPaths, String?>, PathKind)] = [
            ("pressure", \.pressure, .file), ("power-supplies", \.powerSupplies, .directory),
            ("load", \.load, .file), ("routes", \.routes, .directory),
            ("thermal", \.thermal, .directory), ("app-slice", \.appSlice, .directory),
            ("cpu-pressure", \.cpuPressure, .file),
        ]
        for (name, path, kind) in sensors {
            guard let value = options[name] else { continue }
            paths[keyPath: path] = value == "off" ? nil : value
            if value != "off" { try check(value, of: name, is: kind) }
        }
        if let address = options["system-bus"] {
            paths.systemBus = address == "off" ? .off : .at(address: address)
        }
        for name in ["state", "runtime", "config", "administrator"] {
            if let path = options[name] { try check(path, of: name, is: .anything) }
        }
        for path in options["data"]?.split(separator: ":") ?? [] {
            try check(String(path), of: "data", is: .directory)
        }
        if let path = options["power"] { try check(path, of: "power", is: .directory) }
        return paths
    }

    /// What is to be at a path.
    private enum PathKind {
        case directory, file
        /// Or nothing yet.
        case anything
    }

    /// Missing directories are created, except those that belong to the system: a typing error
    /// would leave the daemon without apps or without a sensor.
    private static func check(
        _ path: String,
        of option: String,
        is kind: PathKind
    ) throws(DaemonError) {
        let name = "offstaged: --\(option): \(path.quoted)"
        guard path.hasPrefix("/") else { throw .usage("\(name) is not an absolute path") }
        let found = Files.status(path)?.kind
        switch kind {
        case .directory:
            if found == nil { throw .usage("\(name): there is no such directory") }
            if found != .directory { throw .usage("\(name) is not a directory") }
        case .file:
            if found == nil {
                throw .usage("\(name): there is no such file; use off to do without")
            }
            if found == .directory { throw .usage("\(name) is a directory; name a file in it") }
        case .anything: break
        }
    }
}
