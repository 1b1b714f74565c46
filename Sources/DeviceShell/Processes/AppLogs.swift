internal import EventLoop
internal import Linux
internal import Vocabulary

/// The logs of all apps, as the daemon opens them and sees to it that they are held to their limit.
struct AppLogs {
    private let paths: DaemonPaths
    private var watch: AppLogWatch?
    private var limit = AppLog.usualLimit
    /// What the keeper was told of it; nil: nothing yet.
    private var told: Int?
    private var isKept = false
    /// Why a log that grows is bounded only when its app is started and ends; nil: it is not.
    private(set) var problem: LinuxError?

    init(_ paths: DaemonPaths) { self.paths = paths }

    /// Watches them, unless that is done already; what has grown meanwhile is bounded.
    mutating func renew(_ loop: EventLoop) {
        guard watch == nil else { return }
        do throws(LinuxError) {
            problem = nil
            watch = try AppLogWatch(loop, directory: paths.logs, limit: limit) { path, error in
                Self.tell(path, error)
            }
            watch?.isKept = isKept
        } catch {
            problem = error
        }
    }

    /// Their directory is another one.
    mutating func restart(_ loop: EventLoop) {
        (watch, told) = (nil, nil)
        renew(loop)
        setLimit(limit)
    }

    mutating func setKept(_ isKept: Bool) {
        self.isKept = isKept
        watch?.isKept = isKept
    }

    /// Said to the keeper too, which may live longer than we.
    mutating func setLimit(_ limit: Int) {
        guard limit != told else { return }
        self.limit = limit
        watch?.limit = limit
        let path = paths.logs + "/" + LogKeeping.limitName
        do throws(LinuxError) {
            let text = Array("\(limit)\n".utf8)
            try Files.replace(path, with: text.span, synchronized: false)
        } catch {
            DaemonLog.write("the keeper does not learn of log-size: \(error)")
        }
        // Not again with each turn.
        told = limit
    }

    /// For the output of a program of the app's that starts now.
    func open(_ app: AppID) throws(LinuxError) -> FileDescriptor {
        bound(app)
        return try log(app).openUnbounded()
    }

    /// Whether only this app's log cannot be opened, for what lies in its place or for its name.
    func isBlocked(_ app: AppID, _ error: LinuxError) -> Bool {
        switch error.errno {
        case .loop, .isDirectory, .nameTooLong, .noDeviceOrAddress: true
        case .access, .permission: Files.status(log(app).path, followLinks: false) != nil
        default: false
        }
    }

    /// Bounds what the app has said last, where no keeper does: of two that do, one would write
    /// over what the other has just kept.
    func bound(_ app: AppID) {
        let log = log(app)
        guard watch?.isKeptNow != true, watch?.isFlooded(Files.name(of: log.path)) != true else {
            return
        }
        do throws(LinuxError) {
            try log.bound()
        } catch {
            Self.tell(log.path, error)
        }
    }

    private func log(_ app: AppID) -> AppLog { AppLog(paths.logPath(of: app), limit: limit) }

    private static func tell(_ path: String, _ error: LinuxError) {
        DaemonLog.write("the log \(path) cannot be shortened: \(error)")
    }
}
