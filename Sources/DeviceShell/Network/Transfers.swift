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
    private let happened: (TransferID, TransferEvent) -> Void
    private var process: NetworkProcess?
    /// Begun and not ended.
    private var running: Set<TransferID> = []
    private var placements: [(id: TransferID, placement: Placement)] = []
    private var placing: DeferredSource?

    init(
        _ loop: EventLoop,
        program: String,
        happened: @escaping (TransferID, TransferEvent) -> Void
    ) {
        (self.loop, self.program, self.happened) = (loop, program, happened)
    }

    func perform(_ action: TransferAction, _ id: TransferID) {
        switch action {
        case .begin(let order, let file): begin(id, order, file)
        case .upload(let order, let file): upload(id, order, file)
        case .proceed: process?.send(.proceed(id), with: nil)
        case .stop:
            // One that has ended says so already.
            if running.contains(id) { process?.send(.stop(id), with: nil) }
        case .place(let placement): place(id, placement)
        case .discard(let file): TransferFiles.discard(file)
        }
    }

    // MARK: Exchanges

    private func begin(_ id: TransferID, _ order: ExchangeOrder, _ file: TransferFile) {
        do throws(TransferFiles.Problem) {
            let opened = try TransferFiles.open(file, durable: order.resume?.offset ?? 0)
            happened(id, .opened(inode: opened.inode))
            let handle = NetworkProcess.OpenFile(opened.descriptor)
            guard let process = networkProcess(for: id) else { return }
            running.insert(id)
            process.send(.begin(id, order), with: handle)
        } catch {
            switch error {
            case .lost:
                // The store forgets it first, then it begins anew.
                happened(id, .lost)
                happened(id, .ended(.interrupted(.init(.stopped)), durable: nil))
            case .system(let error):
                happened(id, .ended(Self.end(by: error), durable: nil))
            }
        }
    }

    private func upload(_ id: TransferID, _ order: UploadOrder, _ file: UploadFile) {
        // What ends here has sent nothing.
        let confirmed = order.resource?.offset ?? 0
        do throws(LinuxError) {
            let source = try UploadSource.open(file, order.source)
            let handle = NetworkProcess.OpenFile(source)
            guard let process = networkProcess(for: id, durable: confirmed) else { return }
            running.insert(id)
            process.send(.upload(id, order), with: handle)
        } catch {
            happened(id, .ended(UploadSource.end(by: error, file), durable: confirmed))
        }
    }

    static func end(by error: LinuxError) -> ExchangeEnd {
        switch error.errno {
        case .noSpace, .quota: .interrupted(.init(.diskFull))
        case .noMemory, .tooManyFiles, .tooManyFilesInSystem:
            .interrupted(.init(.shortage, reason: "\(error)"))
        default: .failed(ExchangeFailure(.file, reason: "\(error)"))
        }
    }

    /// The one that runs, or a new one; nil: it cannot be started.
    private func networkProcess(for id: TransferID, durable: Int64? = nil) -> NetworkProcess? {
        if let process { return process }
        do throws(LinuxError) {
            let process = try NetworkProcess(loop, program) { [unowned self] in
                take($0)
            } ended: { [unowned self] in
                lose($0)
            }
            self.process = process
            return process
        } catch {
            DaemonLog.write("nothing can be transferred: \(error)")
            let reason = "\(error)"
            let end = ExchangeEnd.interrupted(.init(.shortage, reason: reason))
            happened(id, .ended(end, durable: durable))
            return nil
        }
    }

    private func take(_ report: NetworkReport) {
        switch report {
        case .hello: break
        case .answered(let id, let answer):
            if running.contains(id) { happened(id, .answered(answer)) }
        case .resource(let id, let resource):
            if running.contains(id) { happened(id, .resource(resource)) }
        case .progress(let id, let received, let durable):
            guard running.contains(id) else { return }
            happened(id, .progress(received: received, durable: durable))
        case .ended(let id, let end, let durable):
            guard running.remove(id) != nil else { return }
            happened(id, .ended(end, durable: durable))
        }
    }

    /// What ran goes on with the next one.
    private func lose(_ reason: String) {
        process = nil
        if !running.isEmpty { DaemonLog.write("transfers are interrupted: \(reason)") }
        let lost = running.sorted()
        running = []
        for id in lost {
            let end = ExchangeEnd.interrupted(.init(.shortage, reason: reason))
            happened(id, .ended(end, durable: nil))
        }
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
        for (id, event) in TransferFiles.place(placements) { happened(id, event) }
    }
}
