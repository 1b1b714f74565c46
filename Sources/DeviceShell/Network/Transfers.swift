internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary
internal import Wire

/// Performs what the device decides for transfers: opens their files, has the network process fetch
/// or send them, and gives complete files their names. It decides nothing.
@safe
final class Transfers {
    private let loop: EventLoop
    /// The program `offstage-net`.
    private let program: String
    private let control: any ProcessControl
    private let clock: () -> WallTime
    private let happened: (TransferID, TransferEvent) -> Void
    private let credentialReader = CredentialReader()
    private var logins = KeptLogins()
    private var sources = HeldSources()
    private let files: TransferFiles
    /// Tells the user.
    var notify: (TransferNotice) -> Void = { _ in }
    /// Takes what begins; nil: the next one does.
    private var process: NetworkProcess?
    /// That one, and those that only end what they have begun.
    private var processes: [NetworkProcess] = []
    /// Begun and not ended, each with the process that has it.
    private var running: [TransferID: NetworkProcess] = [:]
    /// Of those, and of what is complete and has yet to be put in place.
    private var partials: [TransferID: TransferFiles.PartialFile] = [:]
    /// Progress that the network process reported, to be confirmed when it is stored.
    private var told: [(id: TransferID, durable: Int64)] = []
    /// How often in a row the file of one was locked by another process.
    private var inUse: [TransferID: Int] = [:]
    /// Told to stop, because their directory is gone.
    private var displaced: Set<TransferID> = []
    /// What the last process told of its sandbox; nil: none has yet.
    private(set) var lacks: [SandboxPart]?
    /// Why there is no process that fetches, if one was wanted.
    private(set) var problem: String?
    private var placements: [(id: TransferID, placement: Placement)] = []
    private var placing: DeferredSource?

    init(
        _ loop: EventLoop,
        program: String,
        control: any ProcessControl,
        clock: @escaping () -> WallTime,
        happened: @escaping (TransferID, TransferEvent) -> Void
    ) {
        (self.loop, self.program, self.control) = (loop, program, control)
        (self.clock, self.happened) = (clock, happened)
        files = TransferFiles(directories: TurnDirectory(loop))
    }

    func perform(_ action: TransferAction, _ id: TransferID) {
        switch action {
        case .begin(let order, let file): begin(id, order, file)
        case .upload(let order, let file): upload(id, order, file)
        // One that has ended says so already.
        case .proceed: try? running[id]?.send(.proceed(id), with: nil)
        case .stop: try? running[id]?.send(.stop(id), with: nil)
        case .place(let placement): place(id, placement)
        case .discard(let file):
            files.discard(file)
            partials.removeValue(forKey: id)?.remove()
        // What cannot be asked for is left to the server.
        case .remove(let removal): try? networkProcess()?.send(.remove(removal), with: nil)
        case .look(let directory, let name):
            if files.exists(name, in: directory) { happened(id, .notPlaced(.exists(name))) }
        case .forget(let numbers): logins.forget(numbers)
        case .notify(let notice): notify(notice)
        }
    }

    func keepLogin(_ user: String, _ password: String) -> UInt64 { logins.keep(user, password) }

    /// Keeps a file open that is to be sent; nil: there are enough.
    func take(_ file: consuming FileDescriptor) -> HeldSource? { sources.take(file) }

    func hold(_ source: HeldSource, for id: TransferID) { sources.hold(source, for: id) }

    /// The transfer has ended.
    func release(_ id: TransferID) { sources.release(id) }

    /// Confirms the progress that is stored now. What is not stored is reported again.
    func turnEnded(isStored: Bool) {
        guard !told.isEmpty else { return }
        for (id, durable) in told where isStored {
            try? running[id]?.send(.stored(id, durable: durable), with: nil)
        }
        told.removeAll(keepingCapacity: true)
    }

    // MARK: Exchanges

    private func begin(_ id: TransferID, _ order: ExchangeOrder, _ file: TransferFile) {
        var order = order
        do throws(CredentialReader.Problem) {
            order.credentials = try credentials(file.credentials, file.logins, for: order.url)
        } catch {
            return happened(id, .ended(error.end, durable: nil))
        }
        do throws(TransferFiles.Problem) {
            let opened = try files.open(file, durable: order.resume?.filled.end ?? 0)
            happened(id, .opened(inode: opened.inode))
            let partial = opened.partial
            let handle = NetworkProcess.OpenFile(opened.descriptor)
            guard let process = networkProcess(for: id) else { return }
            partials[id] = partial
            inUse[id] = nil
            send(.begin(id, order), with: handle, of: id, to: process)
        } catch {
            switch error {
            case .lost: startAnew(id)
            case .inUse where isHeldForLong(id):
                // By a program that is none of ours: those end soon. What it holds gets no name.
                files.discard(file)
                startAnew(id)
            case .inUse:
                let reason = "another process still has its unfinished file"
                let end = ExchangeEnd.interrupted(.init(.shortage, reason: reason))
                happened(id, .ended(end, durable: nil))
            case .absent(let error):
                let end = ExchangeEnd.interrupted(.init(.shortage, reason: error.fileReason))
                happened(id, .ended(end, durable: nil))
            case .system(let error):
                happened(id, .ended(Self.end(by: error), durable: nil))
            }
        }
    }

    /// The store forgets it first, then it begins anew; not at once, or it may do so without end.
    private func startAnew(_ id: TransferID) {
        happened(id, .lost)
        let reason = "its unfinished file is not what it was"
        happened(id, .ended(.interrupted(.init(.shortage, reason: reason)), durable: nil))
    }

    /// Whether attempts have found the file locked for half a minute.
    private func isHeldForLong(_ id: TransferID) -> Bool {
        inUse[id, default: 0] += 1
        guard inUse[id, default: 0] > 5 else { return false }
        inUse[id] = nil
        return true
    }

    private func upload(_ id: TransferID, _ order: UploadOrder, _ file: UploadFile) {
        // What ends here has sent nothing.
        let confirmed = order.resource?.offset ?? 0
        var order = order
        do throws(CredentialReader.Problem) {
            order.credentials = try credentials(file.credentials, file.logins, for: order.url)
        } catch {
            return happened(id, .ended(error.end, durable: confirmed))
        }
        do throws(LinuxError) {
            let handle = try source(of: id, file, order.source)
            guard let process = networkProcess(for: id, durable: confirmed) else { return }
            send(.upload(id, order), with: handle, of: id, to: process, durable: confirmed)
        } catch {
            happened(id, .ended(UploadSource.end(by: error, file), durable: confirmed))
        }
    }

    /// As it has been open, else by its path.
    private func source(
        of id: TransferID,
        _ file: UploadFile,
        _ identity: FileIdentity
    ) throws(LinuxError) -> NetworkProcess.OpenFile {
        if let held = sources.file(of: id, identity) { return held }
        return NetworkProcess.OpenFile(try UploadSource.open(file, identity))
    }

    private func send(
        _ order: NetworkOrder,
        with file: NetworkProcess.OpenFile,
        of id: TransferID,
        to process: NetworkProcess,
        durable: Int64? = nil
    ) {
        do throws(NetworkError) {
            running[id] = process
            try process.send(order, with: file)
        } catch {
            (running[id], partials[id]) = (nil, nil)
            endIfDone(process)
            let failure = ExchangeFailure(.badURL, reason: "it cannot be asked for: \(error)")
            happened(id, .ended(.failed(failure), durable: durable))
        }
    }

    /// As they are now: a file that was renewed counts.
    private func credentials(
        _ files: CredentialFiles?,
        _ logins: [TransferLogin],
        for url: String
    ) throws(CredentialReader.Problem) -> Credentials? {
        var credentials = Credentials()
        if let files {
            let host = String(url.urlHost)
            credentials = try credentialReader.read(files, for: host, at: clock())
        }
        credentials.answers = self.logins.answers(logins)
        return credentials.isEmpty ? nil : credentials
    }

    static func end(by error: LinuxError) -> ExchangeEnd {
        if error.errno.isDiskFull { return .interrupted(.init(.diskFull)) }
        if error.errno.isShortage { return .interrupted(.init(.shortage, reason: "\(error)")) }
        return .failed(ExchangeFailure(.file, reason: error.fileReason))
    }

    /// The same for a transfer, which is interrupted if it cannot be started.
    private func networkProcess(for id: TransferID, durable: Int64? = nil) -> NetworkProcess? {
        if let process = networkProcess() { return process }
        let end = ExchangeEnd.interrupted(.init(.shortage, reason: problem ?? ""))
        happened(id, .ended(end, durable: durable))
        return nil
    }

    /// The one that runs, or a new one; nil: it cannot be started.
    private func networkProcess() -> NetworkProcess? {
        if let process { return process }
        do throws(LinuxError) {
            let process = try NetworkProcess(loop, program, in: control) { [unowned self] in
                take($0, from: $1)
            } ended: { [unowned self] in
                lose($0, $1)
            }
            self.process = process
            processes.append(process)
            process.greet()
            // It may have ended with that.
            return self.process
        } catch {
            DaemonLog.write("nothing can be transferred: \(error)")
            problem = "\(error)"
            return nil
        }
    }

    private func take(_ report: NetworkReport, from process: NetworkProcess) {
        switch report {
        case .hello(_, let lacks): (self.lacks, problem) = (lacks, nil)
        case .retires:
            if self.process === process { self.process = nil }
            endIfDone(process)
        case .answered(let id, let answer):
            if running[id] === process { happened(id, .answered(answer)) }
        case .resource(let id, let resource):
            if running[id] === process { happened(id, .resource(resource)) }
        case .sent(let id, let part):
            if running[id] === process { happened(id, .sent(part)) }
        case .progress(let id, let received, let durable):
            guard running[id] === process else { return }
            if let partial = partials[id], files.isGone(partial) {
                if displaced.insert(id).inserted { try? process.send(.stop(id), with: nil) }
                return
            }
            happened(id, .progress(received: received, durable: durable))
            told.append((id, durable))
        case .ranges(let id, let ranges):
            if running[id] === process { happened(id, .ranges(ranges)) }
        case .ended(let id, let end, let durable):
            guard running[id] === process else { return }
            running[id] = nil
            endIfDone(process)
            ended(id, end, durable)
        }
    }

    /// One that has retired waits to hear that nothing more is ordered of it.
    private func endIfDone(_ process: NetworkProcess) {
        guard process.isRetired, !running.values.contains(where: { $0 === process }) else { return }
        process.endOrders()
    }

    private func ended(_ id: TransferID, _ end: ExchangeEnd, _ durable: Int64?) {
        switch end {
        case .complete: displaced.remove(id)
        case .failed: removeIfDisplaced(id)
        case .interrupted, .challenged:
            if let event = endIfDisplaced(id) { return happened(id, event) }
        }
        happened(id, .ended(end, durable: durable))
    }

    /// An attempt is over. Whether what it brought is where nothing goes on with it: then it goes.
    @discardableResult
    private func removeIfDisplaced(_ id: TransferID) -> Bool {
        let wasDisplaced = displaced.remove(id) != nil
        guard let partial = partials.removeValue(forKey: id) else { return wasDisplaced }
        guard wasDisplaced || files.isElsewhere(partial) else { return false }
        partial.remove()
        return true
    }

    /// How an unfinished attempt ends whose directory was renamed or removed; nil: it was not.
    private func endIfDisplaced(_ id: TransferID) -> TransferEvent? {
        let isGone = partials[id].map(files.isGone) ?? false
        guard removeIfDisplaced(id) else { return nil }
        happened(id, .lost)
        guard isGone else {
            // From the start, where it belongs.
            return .ended(.interrupted(.init(.stopped)), durable: nil)
        }
        let failure = ExchangeFailure(.file, reason: TransferFiles.displaced)
        return .ended(.failed(failure), durable: nil)
    }

    /// What ran goes on with the next one.
    private func lose(_ process: NetworkProcess, _ reason: String) {
        if self.process === process { self.process = nil }
        processes.removeAll { $0 === process }
        if !process.isGreeted { problem = reason }
        let lost = running.filter { $0.value === process }.keys.sorted()
        if !lost.isEmpty { DaemonLog.write("transfers are interrupted: \(reason)") }
        // Of an upload that it has not heard of it has sent nothing.
        var confirmed: [TransferID: Int64] = [:]
        for case .upload(let id, let order) in process.unsent {
            confirmed[id] = order.resource?.offset ?? 0
        }
        for id in lost {
            running[id] = nil
            let end = ExchangeEnd.interrupted(.init(.shortage, reason: reason))
            happened(id, endIfDisplaced(id) ?? .ended(end, durable: confirmed[id]))
        }
    }

    /// The daemon ends: nobody is to go on without it, or stand in the way of its successor.
    func end() {
        for process in processes { process.kill() }
    }

    // MARK: Doctor

    var checks: [Check] {
        let isThere = Files.isExecutable(program)
        let lacks = lacks ?? Self.lacksOfKernel
        return [.network(program, isThere: isThere, isRunning: process != nil, problem: problem)]
            + (isThere ? lacks.map(Check.sandbox(lacking:)) : [])
    }

    /// As far as it can be asked without trying.
    private static var lacksOfKernel: [SandboxPart] {
        (Landlock.version > 0 ? [] : [.files]) + (CallFilter.isAvailable ? [] : [.calls])
    }

    // MARK: Names

    /// All of a turn are named together.
    private func place(_ id: TransferID, _ placement: Placement) {
        placements.append((id, placement))
        guard placing == nil else { return }
        placing = try? DeferredSource(loop) { [unowned self] in placeAll() }
        if placing == nil { placeAll() }
    }

    private func placeAll() {
        placing = nil
        let placements = placements
        self.placements = []
        for (id, event) in files.place(placements) {
            // It may lie in a directory that has another name by now.
            let isPlaced = if case .placed = event { true } else { false }
            if isPlaced { partials[id] = nil }
            if event == .lost { partials.removeValue(forKey: id)?.remove() }
            if case .placementInterrupted = event, let partial = partials[id], files.isGone(partial)
            {
                let failure = TransferFailure(code: .file, reason: TransferFiles.displaced)
                happened(id, .notPlaced(failure))
                continue
            }
            happened(id, event)
        }
    }
}
