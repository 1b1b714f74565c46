internal import AppProtocol
internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

extension Daemon {
    /// Serves the private socket: the one that the service manager hands over, else our own.
    func listen() throws(DaemonError) {
        let listener: UnixListener
        do throws(LinuxError) {
            switch try ServiceManager.takeSocketCount() {
            case 0: listener = try UnixListener(places.socket)
            case 1:
                let handed = ServiceManager.takeSocket(0)
                // It is asked until nobody is left; one from a service manager would block then.
                try handed.setNonBlocking(true)
                listener = UnixListener(listening: handed, path: places.socket)
            default:
                throw LinuxError("sd_listen_fds", "more than one socket", .invalid)
            }
        } catch {
            throw .socket("\(places.socket) cannot be listened on: \(error)")
        }
        bus = try AppBus(loop, listener, host: self) { [unowned self] pid in
            control.launch(of: pid).flatMap { driver.device.app(of: $0) }
        }
        world.announced = { [unowned self] in bus?.happened($0) }
    }
}
