internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// What the daemon takes in beside processes and peers: manifests, settings, clocks, sensors. A
/// new source of a condition is a file in `Conditions` and a line here.
@safe
final class Inputs {
    private unowned let daemon: Daemon
    private var manifests: ManifestLibrary
    private var manifestWatch: DirectoryWatch?
    private var settingsWatch: DirectoryWatch?
    private var manifestsAreStale = false
    private var settingsAreStale = false
    private let clockJumps: ClockJumps
    private var sources: [Source] = []
    private var pressure: MemoryPressure?

    init(_ daemon: Daemon) throws(LinuxError) {
        self.daemon = daemon
        let places = daemon.places
        manifests = ManifestLibrary(directories: places.applications, home: places.home)
        clockJumps = try ClockJumps()
        manifestWatch = try DirectoryWatch(daemon.loop) { [unowned self] in
            manifestsAreStale = true
        }
        settingsWatch = try DirectoryWatch(daemon.loop) { [unowned self] in
            settingsAreStale = true
        }
        try watchClocks()
        do throws(LinuxError) {
            pressure = try places.pressure.map { (path) throws(LinuxError) in
                try MemoryPressure(daemon.loop, path) { [unowned self] reading in
                    self.daemon.world.happened(.condition(.memory, .kernel, reading))
                }
            }
        } catch {
            // The sensor is absent; `doctor` says why.
            pressureProblem = error
        }
    }

    /// Why the kernel does not report memory pressure; nil: it does.
    private(set) var pressureProblem: LinuxError?

    private func watchClocks() throws(LinuxError) {
        let jumps = try DescriptorSource(
            daemon.loop,
            clockJumps.descriptor.number,
            .readable
        ) { [unowned self] _ in
            if (try? clockJumps.happened()) == true { daemon.world.happened(.clockChanged) }
        }
        sources.append(jumps)
        let directory = Files.directory(of: Clocks.zonePath)
        let name = String(Clocks.zonePath.dropFirst(directory.count + 1))
        let zone = try PathSource(daemon.loop, directory, .entries) { [unowned self] event in
            guard event.name == name else { return }
            Clocks.readZone()
            daemon.world.happened(.clockChanged)
        }
        sources.append(zone)
    }

    /// What there is when the daemon starts: the settings, nil for the defaults, and all manifests.
    /// Part of the first event, since what was running is judged by them.
    func readFirst() -> (settings: Settings?, manifests: [ManifestChange]) {
        (settingsAreStale, manifestsAreStale) = (false, false)
        watchSettings()
        manifestWatch?.watch(manifests.watched())
        return (readSettings(), scan())
    }

    /// As if everything had changed.
    func readAll() {
        (manifestsAreStale, settingsAreStale) = (true, true)
        manifests.forgetStatus()
        refresh()
    }

    /// Reads again what has changed since the last turn. Watches are renewed before the reading,
    /// so that no change falls between.
    func refresh() {
        if settingsAreStale {
            settingsAreStale = false
            watchSettings()
            if let settings = readSettings(), settings != daemon.driver.device.settings.value {
                daemon.world.happened(.settings(settings))
            }
        }
        if manifestsAreStale {
            manifestsAreStale = false
            manifestWatch?.watch(manifests.watched())
            let changes = scan()
            if !changes.isEmpty { daemon.world.happened(.manifests(changes)) }
        }
    }

    /// What has changed; who is not looking at `offstage apps` reads in the log what is wrong.
    private func scan() -> [ManifestChange] {
        let changes = manifests.scan()
        for case .invalid(let app, let reason) in changes {
            DaemonLog.write("\(app) cannot be used, its manifest is not valid: \(reason)")
        }
        return changes
    }

    private func nearest(_ directory: String) -> String {
        var path = directory
        while !Files.exists(path), path != "/" { path = Files.directory(of: path) }
        return path
    }

    private func watchSettings() {
        settingsWatch?.watch([nearest(Files.directory(of: daemon.places.configuration))])
    }

    /// Nil: the file is not valid, and the settings in force stay.
    private func readSettings() -> Settings? {
        switch SettingsFile.read(daemon.places.configuration) {
        case .success(let settings):
            daemon.settingsProblems = []
            return settings
        case .failure(let problems):
            daemon.settingsProblems = problems.diagnostics
            for problem in problems.diagnostics {
                DaemonLog.write("\(daemon.places.configuration): \(problem)")
            }
            DaemonLog.write("the settings in force stay")
            return nil
        }
    }
}
