public import Foundation
internal import Synchronization
internal import Vocabulary

/// The number of bytes is not known.
public let NSURLSessionTransferSizeUnknown: Int64 = -1

/// One request of a session.
public class URLSessionTask: NSObject, ProgressReporting, NSCopying,
    @unchecked Sendable  // What changes: in `values`, locked.
{
    /// Where a task is.
    public enum State: Int, Sendable {
        /// Resumed, also while it waits for its date or a network.
        case running = 0
        /// It does nothing, and its time-out does not run.
        case suspended = 1
        case canceling = 2
        case completed = 3
    }

    /// Unique in the session, at every launch.
    public let taskIdentifier: Int
    /// What was asked for, also after a relaunch.
    public let originalRequest: URLRequest?
    /// The request as it is sent: the original one, or what the app has put in its place.
    public var currentRequest: URLRequest? { values.withLock { $0.current } ?? originalRequest }
    /// Told to the app; nil before the task has ended.
    public var response: URLResponse? { values.withLock { $0.response } }
    /// Nil before the task has ended, or when it ended well.
    public var error: (any Error)? { values.withLock { $0.error } }
    /// Where it is.
    public var state: State { values.withLock { $0.state } }
    /// Bytes received of its total.
    public let progress: Progress

    /// Default priority.
    public static let defaultPriority: Float = 0.5
    /// Low priority.
    public static let lowPriority: Float = 0.25
    /// High priority.
    public static let highPriority: Float = 0.75

    weak let session: URLSession?
    /// Why it cannot be done in a background session; nil: it can.
    let refusal: String?
    /// What an upload of this process sends.
    let file: URL?
    /// Of a download that goes on with what has come of another.
    let resumeToken: String?
    let values: Mutex<Values>

    struct Values: Sendable {
        var state = State.suspended
        /// The daemon has it, or will.
        var isEnqueued = false
        /// Nil: the original one.
        var current: URLRequest?
        var response: URLResponse?
        var error: (any Error)?
        var description: String?
        var earliest: Date?
        var expectsToSend = NSURLSessionTransferSizeUnknown
        var expectsToReceive = NSURLSessionTransferSizeUnknown
        var priority = URLSessionTask.defaultPriority
        var delegate: (any URLSessionTaskDelegate)?
        var prefersIncrementalDelivery = true
        var received: Int64 = 0
        var total = NSURLSessionTransferSizeUnknown
        var sent: Int64 = 0
        var toSend: Int64 = 0
        /// Who wants to go on with what has come, once it has ended.
        var keepers: [@Sendable (Data?) -> Void] = []
    }

    init(
        _ session: URLSession,
        _ identifier: Int,
        _ request: URLRequest?,
        refusal: String? = nil,
        file: URL? = nil,
        resumeToken: String? = nil,
        _ values: Values = Values()
    ) {
        (self.session, taskIdentifier, originalRequest) = (session, identifier, request)
        (self.refusal, self.file, self.resumeToken) = (refusal, file, resumeToken)
        self.values = Mutex(values)
        progress = Progress(totalUnitCount: -1)
        super.init()
    }

    /// The app's own, up to 16 KiB; kept over relaunches.
    public var taskDescription: String? {
        get { values.withLock { $0.description } }
        set {
            let mustTell = values.withLock { values in
                guard values.description != newValue else { return false }
                values.description = newValue
                return values.isEnqueued && values.state != .completed
            }
            if mustTell { session?.describe(self) }
        }
    }

    /// Not before it; to be set before the first `resume()`.
    public var earliestBeginDate: Date? {
        get { values.withLock { $0.earliest } }
        set { values.withLock { $0.earliest = newValue } }
    }

    /// Bytes, header fields included, at the most; to be set before the first `resume()`. See
    /// ``countOfBytesClientExpectsToReceive``.
    public var countOfBytesClientExpectsToSend: Int64 {
        get { values.withLock { $0.expectsToSend } }
        set { values.withLock { $0.expectsToSend = newValue } }
    }

    /// Bytes, header fields included, at the most; to be set before the first `resume()`. A
    /// discretionary task that expects to transfer at most 1 MiB goes before the app's other
    /// discretionary tasks of its priority, as long as they wait for a better moment. Otherwise
    /// sizes have no effect.
    public var countOfBytesClientExpectsToReceive: Int64 {
        get { values.withLock { $0.expectsToReceive } }
        set { values.withLock { $0.expectsToReceive = newValue } }
    }

    /// From 0 to 1: what of the app's own tasks goes first. Tasks of the same priority go in the
    /// order in which they were resumed, of discretionary ones the small ones first
    /// (``countOfBytesClientExpectsToReceive``). Kept over relaunches.
    public var priority: Float {
        get { values.withLock { $0.priority } }
        set {
            let mustTell = values.withLock { values in
                guard values.priority != newValue else { return false }
                values.priority = newValue
                return values.isEnqueued && values.state != .completed
            }
            if mustTell { session?.prioritize(self) }
        }
    }

    /// Is told nothing: the delegate of a background session hears of all its tasks, as on iOS.
    public var delegate: (any URLSessionTaskDelegate)? {
        get { values.withLock { $0.delegate } }
        set { values.withLock { $0.delegate = newValue } }
    }

    /// Has no effect: a background session delivers files, and the whole body of an answer.
    public var prefersIncrementalDelivery: Bool {
        get { values.withLock { $0.prefersIncrementalDelivery } }
        set { values.withLock { $0.prefersIncrementalDelivery = newValue } }
    }

    /// Nil: the usual one.
    var wirePriority: Int64? { Self.wirePriority(priority) }

    static func wirePriority(_ priority: Float) -> Int64? {
        guard priority.isFinite else { return nil }
        let wire = Int64(((min(max(priority, 0), 1) - defaultPriority) * 1000).rounded())
        return wire == 0 ? nil : wire
    }

    /// Bytes of the body that were sent.
    public var countOfBytesSent: Int64 { values.withLock { $0.sent } }
    /// Bytes that have come.
    public var countOfBytesReceived: Int64 { values.withLock { $0.received } }
    /// Bytes of the body that are to be sent; ``NSURLSessionTransferSizeUnknown`` when it is not
    /// known how many.
    public var countOfBytesExpectedToSend: Int64 { values.withLock { $0.toSend } }
    /// Bytes in all; ``NSURLSessionTransferSizeUnknown`` when the server did not say.
    public var countOfBytesExpectedToReceive: Int64 { values.withLock { $0.total } }

    /// The task itself: there is one of each number.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Begins it, or lets it go on. What is resumed the first time is durable soon after, and goes
    /// on without the app.
    public func resume() { session?.resume(self) }

    /// It does nothing until it is resumed.
    public func suspend() { session?.suspend(self) }

    /// Ends it; the delegate is told, with the error `URLError.cancelled`.
    public func cancel() { session?.cancel(self) }

    func sent(_ sent: Int64, of total: Int64) {
        values.withLock { ($0.sent, $0.toSend) = (sent, total) }
        progress.totalUnitCount = total
        progress.completedUnitCount = sent
    }

    func progressed(_ received: Int64, _ total: Int64?) {
        values.withLock { values in
            values.received = received
            if let total { values.total = total }
        }
        if let total { progress.totalUnitCount = total }
        progress.completedUnitCount = received
    }
}

/// A task whose body is handed to the app: in a background session only an upload.
public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}  // Adds nothing.

/// A task that sends a file.
public class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {  // No state is added.
    /// Ends it, and keeps what the server has of it for ``URLSession/uploadTask(withResumeData:)``,
    /// for 7 days after the delegate has been told of the end. The delegate is told with the error
    /// `URLError.cancelled`.
    ///
    /// - Parameter completionHandler: Called on the delegate queue, before the delegate is told.
    ///   Nil: the server does not support resumption, or the task has ended already.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void)
    {
        guard let session else { return completionHandler(nil) }
        session.cancel(self, completionHandler)
    }
}

/// A task that fetches a file.
public class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {  // No state is added.
    /// Ends it, and keeps what has come for ``URLSession/downloadTask(withResumeData:)``, for 7
    /// days after the delegate has been told of the end. The delegate is told with the error
    /// `URLError.cancelled`.
    ///
    /// - Parameter completionHandler: Called on the delegate queue, before the delegate is told.
    ///   Nil: nothing has come that could be gone on with, or the task has ended already.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void)
    {
        guard let session else { return completionHandler(nil) }
        session.cancel(self, completionHandler)
    }

    /// The same, of a caller that can wait.
    ///
    /// - Returns: As the completion handler of ``cancel(byProducingResumeData:)`` gets it.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

extension URLSessionTask {
    /// One that the daemon knows of.
    static func known(_ session: URLSession, _ report: SessionTaskReport) -> URLSessionTask {
        report.method == nil
            ? URLSessionDownloadTask(session, report) : URLSessionUploadTask(session, report)
    }

    private convenience init(_ session: URLSession, _ report: SessionTaskReport) {
        // What the session wants is not the request's own.
        let options = session.box.options
        let own = report.headers.filter { !options.adds($0) }
        var request = URLRequest(report.url, own, report.method)
        request?.httpShouldHandleCookies = report.ignoresCookies != true
        if let timeout = report.timeout, timeout != options.timeout {
            request?.timeoutInterval = timeout
        }
        if report.isUnmetered == true, !options.isUnmetered {
            request?.allowsExpensiveNetworkAccess = false
            request?.allowsConstrainedNetworkAccess = false
        }
        var values = Values()
        if let url = report.currentURL {
            values.current = URLRequest(url, report.currentHeaders ?? [], report.method)
            values.current?.httpShouldHandleCookies = report.currentIgnoresCookies != true
        }
        if let priority = report.priority {
            values.priority = URLSessionTask.defaultPriority + Float(priority) / 1000
        }
        values.state = report.isSuspended ? .suspended : .running
        values.isEnqueued = true
        values.description = report.description
        values.earliest = report.earliest.map { Date(timeIntervalSince1970: $0) }
        values.expectsToSend = report.expectsToSend ?? NSURLSessionTransferSizeUnknown
        values.expectsToReceive = report.expectsToReceive ?? NSURLSessionTransferSizeUnknown
        if report.method == nil {
            values.received = report.received
            values.total = report.total ?? NSURLSessionTransferSizeUnknown
        } else {
            (values.sent, values.toSend) = (report.received, report.total ?? 0)
        }
        self.init(session, Int(report.task), request, values)
    }
}

extension URLRequest {
    /// As the daemon has it.
    fileprivate init?(_ url: String, _ fields: [HTTPField], _ method: String?) {
        guard let url = URL(string: url) else { return nil }
        self.init(url: url)
        httpMethod = method
        for field in fields { addValue(field.value, forHTTPHeaderField: field.name) }
        keptCookies = value(forHTTPHeaderField: "Cookie").map { KeptCookies(url: url, field: $0) }
    }
}
