import Curl
import EventLoop
import ExchangeCore
import Linux
import Vocabulary
import Wire

/// Takes orders, keeps the downloads, and reports. A turn of the loop is: sockets, then what they
/// brought, then one batch of reports.
@safe
final class NetworkService {
    private let loop: EventLoop
    private let link: DaemonLink
    private let multi: CurlMulti
    private let syncs: SyncThread
    private var sockets: [Int32: DescriptorSource] = [:]
    private var curlTimer: TimerSource?
    private var progressTimer: TimerSource?
    private var idleTimer: TimerSource?
    private var syncSource: DescriptorSource?
    private var downloads: [TransferID: Download] = [:]
    /// By request: whose it is.
    private var owners: [ObjectIdentifier: Download] = [:]
    private var isGreeted = false
    private let sandbox: Sandbox
    /// Why it ended, if not in good order.
    private(set) var problem: String?

    /// How often progress is told, and looked whether bytes are to be made durable.
    static let tick = Interval.milliseconds(500)
    /// Without anything to fetch it ends; the daemon starts it again.
    static let linger = Interval.seconds(30)

    init(_ loop: EventLoop, _ socket: consuming PacketSocket, _ sandbox: Sandbox) throws {
        (self.loop, self.sandbox) = (loop, sandbox)
        multi = try CurlMulti(connectionsPerHost: 6, connections: 32)
        syncs = try SyncThread()
        link = try DaemonLink(loop, socket)
        curlTimer = try TimerSource(loop) { [unowned self] in multi.timeOut() }
        progressTimer = try TimerSource(loop) { [unowned self] in tick() }
        idleTimer = try TimerSource(loop) { [unowned self] in endIfIdle() }
        multi.watch = { [unowned self] in watch($0, $1) }
        multi.setTimer = { [unowned self] in setTimer($0) }
        link.ordered = { [unowned self] in take($0, $1) }
        link.lost = { [unowned self] in end($0) }
        syncSource = try syncs.attach(to: loop) { [unowned self] in synced($0) }
        try idleTimer?.arm(at: Clocks.boot() + Self.linger)
    }

    private func end(_ problem: String?) {
        self.problem = self.problem ?? problem
        loop.exit()
    }

    private func endIfIdle() {
        if downloads.isEmpty { end(nil) }
    }

    // MARK: Orders

    private func take(_ order: NetworkOrder, _ file: consuming FileDescriptor?) {
        guard isGreeted else {
            guard case .hello(NetworkFormat.version) = order else {
                return end("the daemon speaks another version")
            }
            isGreeted = true
            return report(.hello(version: NetworkFormat.version, lacks: sandbox.lacks))
        }
        switch order {
        case .hello: end("the daemon said hello twice")
        case .begin(let id, let order):
            guard let file = file.take() else { return end("an order came without its file") }
            begin(id, order, file)
        case .proceed(let id):
            guard let download = downloads[id] else { return }
            download.proceed()
            advance(download)
        case .stop(let id):
            guard let download = downloads[id] else { return }
            download.stop()
            advance(download)
        }
    }

    private func begin(_ id: TransferID, _ order: ExchangeOrder, _ file: consuming FileDescriptor) {
        guard downloads[id] == nil, downloads.count < NetworkFormat.mostExchanges else {
            return end("an order that cannot be: \(id)")
        }
        let download = Download(id, order, file)
        downloads[id] = download
        download.begin()
        if isRetiring(at: Clocks.boot()) { download.stop() }
        advance(download)
        try? progressTimer?.arm(at: Clocks.boot() + Self.tick)
    }

    /// It begins nothing new: names can no longer be looked up as the system would have it. Told
    /// once; looked for once a second.
    private func isRetiring(at now: BootTime) -> Bool {
        guard !isRetired, now >= nextLook else { return isRetired }
        nextLook = now + .seconds(1)
        isRetired = sandbox.isOutdated
        if isRetired { report(.retires) }
        return isRetired
    }
    private var isRetired = false
    private var nextLook = BootTime.distantPast

    // MARK: Sockets and time

    private func watch(_ socket: Int32, _ interest: CurlMulti.Interest) {
        guard !interest.isEmpty else {
            // At once: its handler may be what runs now, and libcurl may watch it again, or another
            // socket of the same number.
            try? sockets.removeValue(forKey: socket)?.setEnabled(false)
            return
        }
        var events: DescriptorSource.Events = []
        if interest.contains(.readable) { events.insert(.readable) }
        if interest.contains(.writable) { events.insert(.writable) }
        do throws(LinuxError) {
            if let source = sockets[socket] { return try source.setEvents(events) }
            sockets[socket] = try DescriptorSource(loop, socket, events) { [unowned self] in
                ready(socket, $0)
            }
        } catch {
            end("\(error)")
        }
    }

    private func ready(_ socket: Int32, _ events: DescriptorSource.Events) {
        var interest: CurlMulti.Interest = []
        if events.contains(.readable) || events.contains(.hangUp) { interest.insert(.readable) }
        if events.contains(.writable) { interest.insert(.writable) }
        if events.contains(.error) { interest.insert(.error) }
        multi.act(socket, interest)
    }

    private func setTimer(_ milliseconds: Int?) {
        let wait = milliseconds.map { Interval.milliseconds(Int64($0)) }
        do throws(LinuxError) {
            try curlTimer?.arm(at: wait.map { Clocks.boot() + $0 })
        } catch {
            end("\(error)")
        }
    }

    private func tick() {
        guard !downloads.isEmpty else { return }
        let now = Clocks.boot()
        for download in downloads.values {
            download.tick(now)
            tellProgress(of: download)
            touched[download.id] = download
        }
        try? progressTimer?.arm(at: now + Self.tick)
    }

    /// After each turn of the loop: what has ended, and who has something to do.
    func turnEnded() throws {
        while let (request, error) = multi.next() {
            guard let download = owners.removeValue(forKey: ObjectIdentifier(request)) else {
                continue
            }
            download.requestEnded(request, error)
            touched[download.id] = download
        }
        while let (_, download) = touched.popFirst() { advance(download) }
        syncs.flush()
        try link.flush()
        if downloads.isEmpty, isRetired { return end(nil) }
        if downloads.isEmpty, !isIdle { try idleTimer?.arm(at: Clocks.boot() + Self.linger) }
        isIdle = downloads.isEmpty
    }
    private var touched: [TransferID: Download] = [:]
    private var isIdle = false

    /// Does what a download has come to want.
    private func advance(_ download: Download) {
        for task in download.takeTasks() {
            switch task {
            case .give(let up):
                owners[ObjectIdentifier(up)] = nil
                multi.remove(up)
            case .request(let options): request(options, for: download)
            case .report(let report): self.report(report, of: download)
            case .sync(let job): syncs.add(job)
            case .done(let report):
                downloads[download.id] = nil
                self.report(report)
            }
        }
    }

    /// `download`: whose server has said it.
    private func report(_ report: NetworkReport, of download: Download? = nil) {
        do throws(NetworkError) {
            try link.report(report)
        } catch {
            guard let download else { return end("a report that cannot be: \(error)") }
            download.couldNotReport(error)
            touched[download.id] = download
        }
    }

    /// Not to a daemon that does not read: it would be told as much when it reads again.
    private func tellProgress(of download: Download) {
        guard !link.isBlocked, let progress = download.takeProgress() else { return }
        report(progress)
    }

    private func request(_ options: CurlRequest.Options, for download: Download) {
        var options = options
        options.authorities = sandbox.authorities
        do throws(CurlError) {
            let request = try CurlRequest(options)
            download.use(request) { [unowned self] in touched[download.id] = download }
            owners[ObjectIdentifier(request)] = download
            try multi.add(request)
        } catch {
            download.requestEnded(nil, error)
            touched[download.id] = download
        }
    }

    private func synced(_ result: SyncThread.Result) {
        guard let download = downloads[result.id] else { return }
        download.synced(result)
        tellProgress(of: download)
        touched[download.id] = download
    }
}
