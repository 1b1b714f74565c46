public import Foundation
internal import Synchronization
internal import Vocabulary

/// Transfers of an app that go on without it: while it is suspended, after it has crashed, after a
/// restart of the daemon and of the device.
///
/// Only background sessions are there. A session is made at each launch, with the same identifier;
/// making it brings back its tasks, and what the app has missed is told to the delegate.
public class URLSession: NSObject, @unchecked Sendable {  // What changes: in `box`, locked.
    let box: SessionBox
    private let copied: URLSessionConfiguration

    /// A copy of the one it was made with.
    public var configuration: URLSessionConfiguration {
        guard let copy = copied.copy() as? URLSessionConfiguration else {
            preconditionFailure("a configuration copies itself")
        }
        return copy
    }
    /// Kept until the session is invalidated.
    public var delegate: (any URLSessionDelegate)? { box.delegate }
    /// Where the delegate is told.
    public let delegateQueue: OperationQueue
    /// The app's own.
    public var sessionDescription: String? {
        get { box.state.withLock { $0.description } }
        set { box.state.withLock { $0.description = newValue } }
    }

    /// A background session without a delegate takes tasks only when its ``events`` are read: else
    /// nobody would hear of their end.
    ///
    /// - Parameter configuration: Of a background session.
    public convenience init(configuration: URLSessionConfiguration) {
        self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
    }

    /// Makes a session, or brings it back.
    ///
    /// - Parameters:
    ///   - configuration: Of a background session; copied.
    ///   - delegate: Is told of the tasks; kept until the session is invalidated.
    ///   - queue: Where it is told; nil: on a serial queue of the session's own.
    public convenience init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        self.init(configuration, delegate, queue, .shared)
    }

    init(
        _ configuration: URLSessionConfiguration,
        _ delegate: (any URLSessionDelegate)?,
        _ queue: OperationQueue?,
        _ app: AppSession
    ) {
        copied = configuration.copy() as? URLSessionConfiguration ?? configuration
        let own = OperationQueue()
        own.maxConcurrentOperationCount = 1
        delegateQueue = queue ?? own
        box = SessionBox(app, copied, delegate, delegateQueue)
        super.init()
        box.begin(self)
    }

    // MARK: Tasks

    /// A download, suspended until `resume()`.
    ///
    /// - Parameter url: http or https.
    /// - Returns: The task, under its number in this session.
    public func downloadTask(with url: URL) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url))
    }

    /// A download, suspended until `resume()`.
    ///
    /// - Parameter request: Of the method GET, with an http or https URL.
    /// - Returns: The task; with another request, one that fails when it is resumed.
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        let isGet = request.httpMethod.map { $0.uppercased() == "GET" } ?? true
        let refusal =
            isGet && request.httpBody == nil
            ? nil : "a background download is a GET without a body"
        let task = URLSessionDownloadTask(self, box.nextIdentifier(), request, refusal: refusal)
        box.add(task)
        return task
    }

    /// A download that goes on with what has come of another, suspended until `resume()`. If the
    /// file has changed on the server, it begins anew.
    ///
    /// - Parameter resumeData: Of a task of this app, which can be used once.
    /// - Returns: The task; with other data, or used ones, one that fails when it is resumed.
    public func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        let known = ResumeData(resumeData).flatMap { $0.method == nil ? $0 : nil }
        let task = URLSessionDownloadTask(
            self,
            box.nextIdentifier(),
            known.flatMap { URL(string: $0.url) }.map { URLRequest(url: $0) },
            refusal: known == nil ? "this is not the resume data of a download of this app" : nil,
            resumeToken: known?.token
        )
        box.add(task)
        return task
    }

    /// An upload of a file, suspended until `resume()`. The file that is there then is sent; it
    /// must stay where it is, unchanged, until the task has ended.
    ///
    /// - Parameters:
    ///   - request: Of the method PUT, POST or PATCH, with an http or https URL. After an
    ///     interruption a PUT may be sent again; the others only with the header field
    ///     `Idempotency-Key`, or to a server that supports resumption.
    ///   - fileURL: The file.
    /// - Returns: The task; with another request, one that fails when it is resumed.
    public func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask
    {
        let isKnown = request.httpMethod.flatMap { UploadMethod(rawValue: $0.uppercased()) } != nil
        var refusal =
            isKnown ? nil : "a background upload is a \(UploadMethod.choice): set httpMethod"
        if !fileURL.isFileURL { refusal = "a background upload sends a file: \(fileURL) is none" }
        let task = URLSessionUploadTask(
            self,
            box.nextIdentifier(),
            request,
            refusal: refusal,
            file: fileURL
        )
        box.add(task)
        return task
    }

    /// An upload that goes on where the server has it of another, suspended until `resume()`. The
    /// file must still be where it was, unchanged.
    ///
    /// - Parameter resumeData: Of a task of this app, which can be used once.
    /// - Returns: The task; with other data, or used ones, one that fails when it is resumed.
    public func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        let known = ResumeData(resumeData).flatMap { $0.method == nil ? nil : $0 }
        var request = known.flatMap { URL(string: $0.url) }.map { URLRequest(url: $0) }
        request?.httpMethod = known?.method
        let task = URLSessionUploadTask(
            self,
            box.nextIdentifier(),
            request,
            refusal: known == nil ? "this is not the resume data of an upload of this app" : nil,
            resumeToken: known?.token
        )
        box.add(task)
        return task
    }

    /// The tasks that have not ended, also those of earlier launches.
    ///
    /// - Parameter completionHandler: Called on the delegate queue.
    public func getAllTasks(
        completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void
    ) {
        box.whenJoined { [box] in completionHandler(box.tasks) }
    }

    /// The tasks that have not ended, also those of earlier launches.
    public var allTasks: [URLSessionTask] {
        get async {
            await withCheckedContinuation { continuation in
                getAllTasks { continuation.resume(returning: $0) }
            }
        }
    }

    /// The same by kind. A background session has no data tasks but uploads, which are told apart.
    ///
    /// - Parameter completionHandler: Called on the delegate queue.
    public func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable (
                [URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]
            ) -> Void
    ) {
        getAllTasks { tasks in
            let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
            let data = tasks.filter { !($0 is URLSessionUploadTask) }
            completionHandler(
                data.compactMap { $0 as? URLSessionDataTask },
                uploads,
                tasks.compactMap { $0 as? URLSessionDownloadTask }
            )
        }
    }

    /// The same by kind, for a caller that can wait.
    public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask])
    {
        get async {
            await withCheckedContinuation { continuation in
                getTasksWithCompletionHandler { continuation.resume(returning: ($0, $1, $2)) }
            }
        }
    }

    /// There is nothing to be written: what is resumed is kept by the daemon at once.
    ///
    /// - Parameter completionHandler: Called on the delegate queue.
    public func flush(completionHandler: @escaping @Sendable () -> Void) {
        delegateQueue.addOperation(completionHandler)
    }

    // MARK: The end

    /// Takes no more tasks, and becomes invalid when those that are there have ended.
    public func finishTasksAndInvalidate() { box.invalidate(cancelling: false) }

    /// Cancels all tasks, and becomes invalid.
    public func invalidateAndCancel() { box.invalidate(cancelling: true) }

    // MARK: For tasks

    func resume(_ task: URLSessionTask) { box.resume(task) }
    func suspend(_ task: URLSessionTask) { box.suspend(task) }
    func cancel(_ task: URLSessionTask) { box.cancel(task) }
    func cancel(_ task: URLSessionTask, _ keeper: @escaping @Sendable (Data?) -> Void) {
        box.cancel(task, keeper)
    }
    func describe(_ task: URLSessionTask) { box.describe(task) }
    func prioritize(_ task: URLSessionTask) { box.prioritize(task) }

    // MARK: What a background session cannot do

    private func added<Made: URLSessionTask>(_ task: Made) -> Made {
        box.add(task)
        return task
    }

    private func refusedData(_ request: URLRequest, _ rule: String) -> URLSessionDataTask {
        added(URLSessionDataTask(self, box.nextIdentifier(), request, refusal: rule))
    }

    private func refusedUpload(_ request: URLRequest, _ from: String) -> URLSessionUploadTask {
        let rule =
            "uploads from \(from) are not supported in background sessions: write the bytes to a "
            + "file, and use uploadTask(with:fromFile:)"
        return added(URLSessionUploadTask(self, box.nextIdentifier(), request, refusal: rule))
    }

    /// Refused: the task fails at `resume()`. A background session outlives the app's memory; use
    /// ``uploadTask(with:fromFile:)``.
    public func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        refusedUpload(request, "memory")
    }

    /// Refused: the task fails at `resume()`. A background session outlives the app's streams; use
    /// ``uploadTask(with:fromFile:)``.
    public func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        refusedUpload(request, "a stream")
    }

    /// Refused: the task fails at `resume()`. A background session fetches files; use
    /// ``downloadTask(with:)-(URL)``.
    public func dataTask(with url: URL) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url))
    }

    /// Refused: the task fails at `resume()`. A background session fetches files; use
    /// ``downloadTask(with:)-(URLRequest)``.
    public func dataTask(with request: URLRequest) -> URLSessionDataTask {
        refusedData(
            request,
            "data tasks are not supported in background sessions: use a download task"
        )
    }

    /// Refused: the task fails at `resume()`. The end of a background task is told to the delegate.
    public func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        let rule = "completion handlers are not supported in background sessions: use a delegate"
        return added(URLSessionDownloadTask(self, box.nextIdentifier(), request, refusal: rule))
    }

    /// Refused: the task fails at `resume()`. The end of a background task is told to the delegate.
    public func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        refusedData(
            request,
            "completion handlers are not supported in background sessions: use a download task "
                + "and a delegate"
        )
    }
}
