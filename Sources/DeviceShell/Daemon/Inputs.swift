internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// What the daemon takes in beside processes and peers: manifests, settings, clocks, conditions.
@safe
final class Inputs {
    private unowned let daemon: Daemon
    private var manifests: ManifestLibrary
    private var manifestWatch: DirectoryWatch?
    private var settingsWatch: DirectoryWatch?
    private var manifestsAreStale = false
    private var settingsAreStale = false
    private var lastRenewal = Clocks.boot()
    /// The settings file as it was when it was last valid, and what of that is kept on the disk.
    private var valid: String?
    private var kept: String?
    /// What could not be, and was told of.
    private var notKept: String?
    /// The settings as the device was told them last; the store may keep it from them for a while.
    private var told: Settings?
    /// What the administrator has set, as of when it was valid last.
    private(set) var administrator = ConfigurationText()
    private var zoneProblem: LinuxError?
    private let clockJumps: ClockJumps
    private var sources: [any Source] = []
    let conditions: ConditionSources
    private var sleep: SleepWatch?

    init(_ daemon: Daemon) throws(LinuxError) {
        self.daemon = daemon
        let paths = daemon.paths
        manifests = ManifestLibrary(directories: paths.applications, home: paths.home)
        clockJumps = try ClockJumps()
        conditions = ConditionSources(
            daemon.loop,
            paths,
            daemon.systemBus,
            daemon.sessionBus,
            foundFirst: { [unowned daemon] in daemon.machine.foundFirst($0.event) },
            report: { [unowned daemon] in daemon.machine.happened($0.event) }
        )
        sleep = SleepWatch(
            daemon.systemBus,
            prepare: { [unowned self] in prepareForSleep($0) },
            resumed: { [unowned daemon] in
                daemon.machine.wakeHelper.resumed()
                daemon.machine.happened(.sleep(.ended))
            }
        )
        manifestWatch = DirectoryWatch(daemon.loop) { [unowned self] in
            manifestsAreStale = true
        }
        settingsWatch = DirectoryWatch(daemon.loop) { [unowned self] in
            settingsAreStale = true
        }
        try watchClocks()
    }

    /// Before what the same turn may bring of the sleep: others are told as well. The alarm is the
    /// one that is left after that turn.
    private func prepareForSleep(_ done: @escaping () -> Void) {
        conditions.machineSleeps()
        daemon.machine.foundFirst(.sleep(.begins))
        daemon.atTurnEnd.append { [unowned daemon] in daemon.machine.prepareForSleep(done) }
    }

    private func watchClocks() throws(LinuxError) {
        let jumps = try DescriptorSource(
            daemon.loop,
            clockJumps.descriptor.number,
            .readable
        ) { [unowned self] _ in
            if (try? clockJumps.happened()) == true { daemon.machine.happened(.clockChanged) }
        }
        sources.append(jumps)
        let directory = Files.directory(of: Clocks.zonePath)
        let name = Files.name(of: Clocks.zonePath)
        do throws(LinuxError) {
            let zone = try PathSource(daemon.loop, directory, .entries) { [unowned self] event in
                guard event.name == name else { return }
                Clocks.readZone()
                daemon.machine.happened(.clockChanged)
            }
            sources.append(zone)
        } catch {
            // Seen at the next start.
            zoneProblem = error
        }
    }

    /// Why changes of files may go unseen until something else happens; nil: they do not.
    var watchProblem: LinuxError? {
        manifestWatch?.problem ?? settingsWatch?.problem ?? daemon.machine.watchProblem
            ?? zoneProblem
    }

    /// Files that cannot be read and are not the user's own.
    var manifestsPassedOver: [String] { manifests.passedOver }

    /// What the kernel would not watch, or we may not read, is looked at when the daemon is awake
    /// anyhow.
    private func renewWatches() {
        guard Clocks.boot() - lastRenewal >= .minutes(1) else { return }
        lastRenewal = Clocks.boot()
        daemon.machine.renewDesktopUnits()
        guard watchProblem != nil || manifests.isPartial else { return }
        (manifestsAreStale, settingsAreStale) = (true, true)
        daemon.machine.renewWatches()
    }

    /// What there is when the daemon starts: the settings, or those that were valid last; all
    /// manifests; and what the kernel says. Part of the first event, since what was running is
    /// judged by them.
    func readFirst() -> (
        settings: Settings, manifests: [ManifestChange], conditions: [ConditionReport]
    ) {
        (settingsAreStale, manifestsAreStale) = (false, false)
        watchSettings()
        manifestWatch?.watch(manifests.watched)
        kept = try? Files.text(daemon.paths.validSettings)
        valid = kept
        let settings = readSettings() ?? lastValidSettings()
        told = settings
        manifests.expect(daemon.device.expectedApps)
        return (settings, scan(), conditions.readFirst())
    }

    /// Those of the last time that the file was valid: a slip in it must not bring back what the
    /// user has switched off. Under the administrator's of now, whatever the user's say.
    private func lastValidSettings() -> Settings {
        let which = valid == nil ? "the defaults" : "the settings that were valid last"
        DaemonLog.write("\(which) are in force; the administrator's still apply")
        return SettingsText.parse(ConfigurationText(valid ?? ""), yieldingTo: administrator)
    }

    /// As if everything had changed.
    func readAll() {
        (manifestsAreStale, settingsAreStale) = (true, true)
        manifests.forgetStatus()
        conditions.look()
        refresh()
    }

    /// As if the settings had changed.
    func rereadSettings() {
        settingsAreStale = true
        refresh()
    }

    /// As if the manifests had changed.
    func rereadManifests() {
        manifestsAreStale = true
        refresh()
    }

    /// Reads again what has changed since the last turn. Watches are renewed before the reading,
    /// so that no change falls between.
    func refresh() {
        renewWatches()
        conditions.refresh()
        if settingsAreStale {
            settingsAreStale = false
            watchSettings()
            let settings = readSettings() ?? lastValidSettings()
            if settings != told {
                told = settings
                daemon.machine.happened(.settings(settings))
            }
        }
        if manifestsAreStale {
            manifestsAreStale = false
            manifestWatch?.watch(manifests.watched)
            let changes = scan()
            // Before what the same turn was asked: it may name an app that was just installed.
            if !changes.isEmpty { daemon.machine.foundFirst(.manifests(changes)) }
        }
    }

    /// What has changed; who is not looking at `offstage apps` reads in the log what is wrong.
    private func scan() -> [ManifestChange] {
        let changes = manifests.scan()
        for case .invalid(let app, _, let reason) in changes {
            DaemonLog.write("\(app) cannot be used, its manifest is not valid: \(reason)")
        }
        return changes
    }

    private func watchSettings() {
        settingsWatch?.watch {
            DirectoryWatch.Target.chain(daemon.paths.configuration)
                + DirectoryWatch.Target.chain(daemon.paths.administrator)
        }
    }

    private func readAdministrator() {
        let path = daemon.paths.administrator
        switch SettingsFile.readAdministrator(path) {
        case .success(let text):
            daemon.administratorProblems = []
            administrator = text
        case .failure(let problems):
            daemon.administratorProblems = problems.diagnostics
            for problem in problems.diagnostics { DaemonLog.write("\(path): \(problem)") }
        }
    }

    /// Nil: the file is not valid.
    private func readSettings() -> Settings? {
        readAdministrator()
        let path = daemon.paths.configuration
        switch SettingsFile.read(path, administrator: administrator) {
        case .success((let settings, let text)):
            daemon.settingsProblems = []
            keep(text)
            return settings
        case .failure(let problems):
            daemon.settingsProblems = problems.diagnostics
            for problem in problems.diagnostics {
                DaemonLog.write("\(daemon.paths.configuration): \(problem)")
            }
            return nil
        }
    }

    /// What was kept is gone.
    func keepAnew() {
        (kept, notKept) = (nil, nil)
        if let valid { keep(valid) }
    }

    private func keep(_ text: String) {
        valid = text
        guard text != (kept ?? "") else { return }
        do throws(LinuxError) {
            try Files.replace(daemon.paths.validSettings, with: text)
            (kept, notKept) = (text, nil)
        } catch {
            // They are read again whenever somebody asks for that.
            guard text != notKept else { return }
            notKept = text
            DaemonLog.write(
                "the settings were read, but could not be kept for the next start: \(error)"
            )
        }
    }
}

extension ConditionReport {
    fileprivate var event: Event { .condition(condition, source, reading) }
}
