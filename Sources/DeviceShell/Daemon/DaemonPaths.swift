internal import DeviceCore
import Linux
package import Vocabulary

/// Where a daemon keeps what; each can be overridden, so that many run side by side.
package struct DaemonPaths: Equatable, Sendable {
    package var state: String
    package var runtime: String
    /// The settings file.
    package var configuration: String
    /// Settings that the user cannot change.
    package var administrator = SettingsText.administratorPath
    /// `applications` directories, the more important first.
    package var applications: [String]
    package var home: String
    /// Where the kernel's wake locks are.
    package var power = WakeLock.usualDirectory
    /// Where the kernel tells of memory pressure: the machine's, or a cgroup's file; nil: nobody
    /// is to ask.
    package var pressure: String? = Pressure.path(of: .memory)
    /// Where the kernel's power supplies are; nil: nobody is to ask.
    package var powerSupplies: String? = PowerSupply.usualDirectory
    /// Where the kernel's routes are; nil: nobody is to ask.
    package var routes: String? = Routes.usualDirectory
    /// Where the kernel's thermal zones are; nil: nobody is to ask.
    package var thermal: String? = ThermalZone.usualDirectory
    /// Where the kernel has the units of apps that the desktop starts; nil: nobody is to look.
    package var appSlice: String? = DesktopUnits.directory(of: CurrentProcess.user)
    /// The machine's message bus.
    package var systemBus = SystemBusPlace.usual
    /// Where the kernel tells of the load; nil: nobody is to ask.
    package var load: String? = LoadAverage.usualPath
    /// Where the kernel tells how long tasks wait for a processor; nil: nobody is to ask.
    package var cpuPressure: String? = Pressure.path(of: .cpu)

    /// The program that fetches.
    package var network = Self.program("offstage-net")

    package enum SystemBusPlace: Equatable, Sendable {
        case usual
        case at(address: String)
        /// Nobody is to ask.
        case off
    }

    package init(
        state: String,
        runtime: String,
        configuration: String,
        applications: [String],
        home: String
    ) {
        self.state = state
        self.runtime = runtime
        self.configuration = configuration
        self.applications = applications
        self.home = home
    }

    /// One that belongs to this one: in its directory, or where packages put what nobody calls.
    private static func program(_ name: String) -> String {
        let own = Files.linkTarget("/proc/self/exe") ?? "/usr/bin/offstaged"
        let directory = Files.directory(of: own)
        let places = [directory, Files.directory(of: directory) + "/libexec"]
        let found = places.map { "\($0)/\(name)" }.first { Files.isExecutable($0) }
        return found ?? "\(directory)/\(name)"
    }

    package var socket: String { runtime + "/socket" }
    package var launches: String { state + "/launches" }
    package var logs: String { state + "/logs" }
    /// With a directory for each app that has a session.
    var transfers: String { Self.transfers(in: state) }
    static func transfers(in state: String) -> String { state + "/transfers" }
    package var database: String { state + "/offstage.db" }
    package var events: String { state + "/events.log" }
    /// The settings file as it was when it was last valid.
    package var validSettings: String { state + "/offstage.conf" }
    package var lock: String { state + "/lock" }
    /// How far a virtual clock is ahead.
    package var virtualClock: String { state + "/virtual-clock" }
    package var wakeLock: WakeLock {
        WakeLock(name: ControlProbe.name(forState: state), directory: power)
    }

    /// Ids may hold anything but a slash; a leading dot would hide the file.
    package func logPath(of app: AppID) -> String { "\(logs)/\(app.name)\(Self.logSuffix)" }
    static let logSuffix = ".log"
}
