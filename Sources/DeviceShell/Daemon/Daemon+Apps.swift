internal import DeviceCore
internal import Linux
internal import Vocabulary

/// The daemon as apps on the private socket see it.
extension Daemon: AppHost {
    func say(_ launch: LaunchID, _ event: AppEvent) { machine.happened(.app(launch, event)) }

    func say(
        _ launch: LaunchID,
        _ event: (ReplyToken) -> AppEvent,
        answer: @escaping (Reply) -> Void
    ) {
        machine.happened(.app(launch, event(machine.expect(answer))))
    }

    var ahead: Interval { clock.ahead }
    var awakeAhead: Interval { clock.awakeAhead }

    func afterTurn(_ body: @escaping () -> Void) { atTurnEnd.append(body) }

    func transferDirectory(of app: AppID) throws(LinuxError) -> String {
        // Its files are opened by paths without links.
        let state = Files.resolved(paths.state) ?? paths.state
        let directory = DaemonPaths.transfers(in: state) + "/" + app.name
        try Files.makeDirectory(directory, permissions: 0o700, parents: true)
        return directory
    }

    func keepLogin(_ user: String, _ password: String) -> UInt64 {
        machine.transfers?.keepLogin(user, password) ?? 0
    }

    func usage(of launch: LaunchID) -> Usage? { machine.usage(of: launch) }
}

extension Device {
    /// Who a process is to its app; nil: it belongs to none.
    ///
    /// `executable`: of the process, as its own program.
    func caller(
        _ owner: LaunchOwner?,
        _ process: ProcessIdentity,
        _ executable: FileStatus?
    ) -> AppCaller? {
        let process = ProcessID(pid: process.pid, startTime: process.startTime)
        func lists(_ app: AppState) -> Bool {
            guard let executable, let extensions = app.manifest?.extensions else { return false }
            return extensions.contains {
                Files.status($0)?.isSameFile(as: executable) == true
                    || RunningProgram.isScript($0, of: process.pid)
            }
        }
        guard let owner else {
            for index in 0..<apps.endIndex where apps.isUsed(index) && lists(apps[index]) {
                return AppCaller(
                    process: process,
                    app: apps[index].id,
                    launch: nil,
                    role: .helper
                )
            }
            return nil
        }
        let main = launch(owner.launch)?.launch.process
        let isHelper = apps.index(of: owner.app).map { lists(apps[$0]) } ?? false
        return AppCaller(
            process: process,
            app: owner.app,
            launch: owner.launch,
            role: main == process ? .main : isHelper ? .helper : .child
        )
    }
}
