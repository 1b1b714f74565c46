internal import AppProtocol
internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

extension Daemon {
    /// Whoever runs there has another state directory, or had this one until it was deleted: before
    /// anything is decided here.
    static func checkNobodyListens(_ paths: DaemonPaths) throws(DaemonError) {
        // Then it is ours, which the service manager has made.
        guard CurrentProcess.environment("LISTEN_FDS") == nil,
            (try? UnixSocket.connect(to: paths.socket)) != nil
        else { return }
        throw .listening(paths.socket)
    }

    /// Serves the private socket: the one that the service manager hands over, else our own.
    func listen() throws(DaemonError) {
        let listener: UnixListener
        do throws(LinuxError) {
            switch try ServiceManager.takeSocketCount() {
            case 0:
                listener = try UnixListener(paths.socket)
                ownSocket = Files.status(paths.socket, followLinks: false)
            case 1:
                let handed = ServiceManager.takeSocket(0)
                // It is asked until nobody is left; one from a service manager would block then.
                try handed.setNonBlocking(true)
                listener = UnixListener(listening: handed, path: paths.socket)
            default:
                throw LinuxError("sd_listen_fds", "more than one socket", .invalid)
            }
        } catch  where error.errno == .addressInUse {
            throw .listening(paths.socket)
        } catch {
            throw .socket("\(paths.socket) cannot be listened on: \(error)")
        }
        bus = try AppBus(loop, listener, host: self) { [unowned self] pid throws(Refusal) in
            try owner(of: pid)
        }
        machine.announced = { [unowned self] line in
            DaemonLog.write(line)
            bus?.happened(line)
        }
        machine.told = { [unowned self] in bus?.tell($0, $1.onMachine(clock)) }
        discovery = Discovery(sessionBus, socket: paths.socket)
        let notices = DesktopNotices(sessionBus)
        machine.transfers?.notify = { notices.show($0) }
        sessionBus.connect()
    }

    /// Whose process this is; nil: it is outside every launch. Where that is not known, it is
    /// nobody's: what an app must not do may be wanted.
    private func owner(of pid: Int32) throws(Refusal) -> LaunchOwner? {
        let launch: LaunchID?
        do throws(LinuxError) {
            launch = try control.launch(of: pid)
        } catch {
            throw Refusal(
                .notPermitted,
                reason: "the process that connected cannot be identified",
                value: "\(error)",
                fix: "try again"
            )
        }
        guard let launch else { return nil }
        guard let app = driver.device.app(of: launch) else {
            throw Refusal(
                .notPermitted,
                reason: "the launch of the process that connected is over",
                value: "\(launch)"
            )
        }
        return LaunchOwner(app: app, launch: launch)
    }
}
