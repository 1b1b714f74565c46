internal import AppProtocol
internal import BuildIdentity
internal import DeviceCore
internal import Linux
internal import Vocabulary

/// The daemon as the private socket sees it.
extension Daemon: ControlHost {
    var device: Device { driver.device }

    func now() -> Moment { clock.now() }

    var invalidSettings: [Report.InvalidFile] {
        let files = [
            (paths.configuration, settingsProblems), (paths.administrator, administratorProblems),
        ]
        return files.compactMap { path, problems in
            guard let first = problems.first else { return nil }
            return Report.InvalidFile { ($0.file, $0.problem) = (path, "\(first)") }
        }
    }

    func ask(_ request: UserRequest, answer: @escaping (Reply) -> Void) {
        machine.happened(.user(request, reply: machine.expect(answer)))
    }

    func take(_ file: consuming FileDescriptor) -> HeldSource? {
        guard let transfers = machine.transfers else { return nil }
        return transfers.take(file)
    }

    func hold(_ source: HeldSource, for id: TransferID) {
        machine.transfers?.hold(source, for: id)
    }

    func takeEnvironment(of attached: LaunchID) -> [String] {
        machine.takeEnvironment(of: attached)
    }

    func set(
        _ name: String,
        to value: String,
        app: AppID?,
        answer: @escaping (Reply) -> Void
    ) {
        if let app, device.apps.index(of: app) == nil {
            // It may have been installed a moment ago.
            rereadManifests()
            afterTurn { [unowned self] in
                guard device.apps.index(of: app) != nil else {
                    return answer(.refused(device.unknown(app)))
                }
                setSetting(name, value, app, answer)
            }
        } else if let condition = Condition(named: name), app == nil {
            setByHand(condition, value, answer)
        } else if app == nil, let refusal = unknown(name) {
            answer(.refused(refusal))
        } else {
            setSetting(name, value, app, answer)
        }
    }

    /// Nil: there is a setting of that name.
    private func unknown(_ name: String) -> Refusal? {
        let settings = SettingRow.table.map(\.name)
        guard !settings.contains(name) else { return nil }
        if let new = SettingRow.name(formerly: name) {
            return Refusal(
                .invalid,
                reason: "this setting is now called \(new)",
                value: name,
                fix: "write \(new) instead"
            )
        }
        let names = Condition.allCases.map(\.row.name) + settings
        let guess = Spelling.suggestion(for: name, among: names)
        return Refusal(
            .invalid,
            reason: "neither a sensor nor a setting has this name",
            value: name,
            fix: guess.map { "did you mean \($0)?" } ?? "offstage settings lists them"
        )
    }

    private func setByHand(
        _ condition: Condition,
        _ value: String,
        _ answer: @escaping (Reply) -> Void
    ) {
        guard let reading = condition.row.byHand(value) else {
            answer(
                .refused(
                    Refusal(
                        .invalid,
                        reason: "\(condition.row.name) does not take this value",
                        value: value,
                        fix: "write \(condition.row.choices), or auto"
                    )
                )
            )
            return
        }
        ask(.override(condition, reading), answer: answer)
    }

    private func setSetting(
        _ name: String,
        _ value: String,
        _ app: AppID?,
        _ answer: @escaping (Reply) -> Void
    ) {
        do throws(Refusal) {
            guard !device.settings.value.isOverruled(name, app: app) else {
                throw Refusal(
                    .notPermitted,
                    reason: "\(name) has been set by the administrator, in \(paths.administrator)",
                    fix: Refusal.administrator
                )
            }
            try SettingsFile.set(
                name,
                to: value,
                app: app,
                in: paths.configuration,
                administrator: administratorText
            )
            rereadSettings()
            afterTurn { [unowned self] in answer(whetherInForce) }
        } catch {
            answer(.refused(error))
        }
    }

    func reload(answer: @escaping (Reply) -> Void) {
        reread()
        afterTurn { [unowned self] in answer(whetherRead) }
    }

    /// Of the settings and the manifests, after they were read again.
    private var whetherRead: Reply {
        guard let problem = settingsProblems.first else { return whetherInForce }
        return .refused(
            Refusal(
                .held,
                reason: "\(paths.configuration): \(problem)",
                fix: "the settings in force stay until the file is corrected"
            )
        )
    }

    /// Of what has been read of the manifests and the settings.
    private var whetherInForce: Reply {
        guard driver.isBehind else { return .done }
        let conditions = device.conditions
        return .refused(
            Refusal(
                .storage,
                reason: "the new settings are not in force yet: \(conditions.storageSentence)",
                fix: "\(conditions.storageFix); they take effect automatically then"
            )
        )
    }

    func history(
        of app: AppID?,
        limit: Int,
        before: Int64?
    ) throws(Refusal) -> [Report.HistoryLine] {
        let found: [Report.HistoryLine]
        var unknown: Refusal?
        do throws(StoreError) {
            let lines = try machine.store.history(
                of: app,
                before: before,
                limit: min(limit, 10_000)
            )
            if let app, lines.isEmpty, before == nil, device.apps.index(of: app) == nil {
                unknown = device.unknown(app)
            }
            found = lines.map { stored in
                var report = stored.line.report
                report.id = stored.id
                return report
            }
        } catch {
            throw Refusal(.storage, reason: "\(error)")
        }
        if let unknown { throw unknown }
        return found
    }

    var newestLine: Int64 { machine.store.newest }

    func logs(of app: AppID, lines: Int) throws(Refusal) -> LogEnd {
        guard device.apps.index(of: app) != nil || Files.exists(paths.logPath(of: app)) else {
            throw device.unknown(app)
        }
        do throws(LinuxError) {
            let bytes = try AppLog(paths.logPath(of: app)).tail(lines: lines)
            return LogEnd(app: app.name, file: paths.logPath(of: app), bytes: bytes)
        } catch {
            throw Refusal(.storage, reason: "the log of \(app) cannot be read: \(error)")
        }
    }

    func version() -> DaemonVersion {
        DaemonVersion(
            Version.number,
            build: Version.build,
            pid: Int64(CurrentProcess.pid),
            state: paths.state,
            socket: paths.socket,
            seconds: (Clocks.boot() - startedAt).seconds
        )
    }

    func doctor() -> [Check] { Doctor(self).checks }
}
