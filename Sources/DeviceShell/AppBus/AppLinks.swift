internal import AppProtocol
internal import AppTranslation
internal import DeviceCore
internal import EventLoop
internal import Linux
internal import SystemBus
internal import Vocabulary

/// Which connection is which launch's: that of the main process that said hello last. Tells apps
/// what the core says, and the core what their answers mean.
@safe
final class AppLinks {
    private struct Link {
        let connection: Connection
        /// Of the app's object.
        let path: String
    }

    private unowned let host: any AppHost
    private var links: [LaunchID: Link] = [:]
    private var launches: [UInt64: LaunchID] = [:]
    /// Who holds activities, by the process; the connection on which it last began one.
    private var holders: [ProcessID: Connection] = [:]
    private var watches: [ProcessID: ProcessSource] = [:]

    init(host: any AppHost) { self.host = host }

    /// The launch whose link a connection is.
    func launch(of connection: Connection) -> LaunchID? { launches[connection.number] }

    /// The main process of a launch has said hello. One that connects anew knows no more of its
    /// earlier connection, which is ended.
    func bind(_ connection: Connection, to launch: LaunchID, path: String) {
        if let earlier = links[launch]?.connection {
            unbind(earlier, launch)
            earlier.end()
        }
        links[launch] = Link(connection: connection, path: path)
        launches[connection.number] = launch
    }

    /// A process holds an activity of a launch from now on, and is told of its expiry on this
    /// connection.
    func holds(_ process: ProcessID, of launch: LaunchID, on connection: Connection) {
        watches[process] = nil
        guard connection.isOpen else {
            // It went while the core decided.
            holders[process] = nil
            return host.say(launch, .extensionGone(process))
        }
        holders[process] = connection
    }

    /// Those that hold activities since before this daemon have no connection yet, perhaps never
    /// again: their end is seen by the process.
    func watchHolders(_ loop: EventLoop) {
        for (_, launch) in host.device.launches {
            for process in launch.tasks.compactMap(\.holder) where watches[process] == nil {
                let identity = ProcessIdentity(pid: process.pid, startTime: process.startTime)
                do throws(LinuxError) {
                    watches[process] = try ProcessSource(
                        loop,
                        adopted: try PidFD(of: identity)
                    ) { [unowned self] _ in letGo(process) }
                } catch {
                    letGo(process)
                }
            }
        }
    }

    func ended(_ connection: Connection) {
        if let launch = launches[connection.number] { unbind(connection, launch) }
        for process in Array(holders.keys) where holders[process] === connection {
            letGo(process)
        }
    }

    /// It has ended, or hung up: what it held is held no more.
    private func letGo(_ process: ProcessID) {
        holders[process] = nil
        watches[process] = nil
        for (_, launch) in host.device.launches
        where launch.tasks.contains(where: { $0.holder == process }) {
            host.say(launch.id, .extensionGone(process))
        }
    }

    /// Its hello was refused: it may say it again.
    func unbind(refused connection: Connection) {
        guard let launch = launches.removeValue(forKey: connection.number) else { return }
        links[launch] = nil
    }

    private func unbind(_ connection: Connection, _ launch: LaunchID) {
        links[launch] = nil
        launches[connection.number] = nil
        host.say(launch, .disconnected)
    }

    // MARK: What the core says

    func tell(_ launch: LaunchID, _ message: AppMessage) {
        guard let link = link(of: launch, for: message) else { return }
        let call = message.call.encoded
        do throws(BusError) {
            try link.connection.call(
                at: link.path,
                call.interface,
                call.method,
                call.arguments,
                signature: call.signature,
                completion: completion(launch, message)
            )
        } catch {
            DaemonLog.write("launch \(launch) cannot be told \(call.method): \(error)")
        }
    }

    /// An activity's expiry is told to who holds it.
    private func link(of launch: LaunchID, for message: AppMessage) -> Link? {
        guard case .expireTask(_, .some(let holder), _, _) = message else { return links[launch] }
        if let link = links[launch], link.connection === holders[holder] { return link }
        return holders[holder].map { Link(connection: $0, path: AppObject1.path) }
    }

    /// Nil: nobody waits for the answer.
    private func completion(
        _ launch: LaunchID,
        _ message: AppMessage
    ) -> ((Result<[Value], BusError>) -> Void)? {
        guard message.isAnswered else { return nil }
        return { [unowned self] answer in
            if let event = message.event(AppAnswer(answer)) { host.say(launch, event) }
        }
    }
}

extension AppAnswer {
    fileprivate init(_ answer: Result<[Value], BusError>) {
        self =
            switch answer {
            case .success: .done
            case .failure(let error): error.refusal.map { .refused($0) } ?? .lost
            }
    }
}

extension BusError {
    /// What the peer answered; nil: it answered nothing.
    fileprivate var refusal: String? {
        switch reason {
        case .refused(let name): message.isEmpty ? name : message
        case .unsuitable, .tooLarge: message
        case .notListening, .timedOut, .disconnected, .system: nil
        }
    }
}
