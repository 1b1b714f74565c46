public import Foundation

/// What a session is told, on its delegate queue. Every method has a default, which is the answer
/// of an app that does not implement it.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session takes no more tasks, and has let go of its delegate.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - error: Nil when the app asked for it.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A server wants to know who asks, and it concerns all tasks. A background session never asks
    /// this: a server's certificate is judged by the system's authorities, and names and passwords
    /// are asked for each task.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - challenge: What the server wants.
    ///   - completionHandler: Takes the answer.
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )

    /// All that the app has missed has been told: the place to call the completion handler of
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        didBecomeInvalidWithError error: (any Error)?
    ) {}

    /// As if nobody had asked.
    public func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.performDefaultHandling, nil)
    }

    /// Does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}

/// What a session is told of its tasks.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// A task has ended. It is told once, and again at the next launch if the app ends before this
    /// returns.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - task: The task.
    ///   - error: Nil when the server has answered, also with a status of 400 or more. Else a
    ///     `URLError`.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    )

    /// Bytes of an upload's file have been sent. Told only while the app runs. After an
    /// interruption there may be fewer of them than before.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - task: The task.
    ///   - bytesSent: Since it was told last.
    ///   - totalBytesSent: In all.
    ///   - totalBytesExpectedToSend: The size of the file; ``NSURLSessionTransferSizeUnknown`` when
    ///     it is not known.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    )

    /// A server wants a name and a password for a task (status 401). The task waits for the answer,
    /// which may be given later; a later launch of the app is asked again.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - task: The task.
    ///   - challenge: What the server wants.
    ///   - completionHandler: Takes the answer, once, on any thread.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )

    /// The same of an app that answers by an `async` function.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - task: The task.
    ///   - challenge: What the server wants.
    /// - Returns: The answer.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// The date of a task has come (``URLSessionTask/earliestBeginDate``): it begins as it is, or
    /// as another one. The task waits for the answer; a later launch of the app is asked again.
    /// Asked if the app runs then, or if
    /// ``URLSessionConfiguration/launchesForDelayedRequests`` is set.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - task: The task.
    ///   - request: As it would be sent.
    ///   - completionHandler: Takes the answer, once, on any thread. Of a new request its URL and
    ///     its header fields count.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler:
            @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    )

    /// A server has refused a task with status 401, for the first time since it took an answer: its
    /// header fields may be too old, such as one with a token. Not Apple's. It is asked before
    /// the app is asked for a name and a password; the task waits for the answer, and a later
    /// launch of the app is asked again.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - task: The task.
    ///   - request: As it was sent.
    ///   - response: The server's.
    ///   - completionHandler: Takes the request with which it is tried again, once, on any thread.
    ///     Its URL and its header fields count. Nil: it is not.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willRenewRequest request: URLRequest,
        refusedWith response: HTTPURLResponse,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    )
}

extension URLSessionTaskDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {}
}

extension URLSessionTaskDelegate {
    /// Leaves it to the `async` function.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        Task {
            let (disposition, credential) = await urlSession(
                session,
                task: task,
                didReceive: challenge
            )
            completionHandler(disposition, credential)
        }
    }

    /// As if nobody had asked: the answer with status 401 is what was asked for.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        session.box.leavesToUs(.challenges)
        return (.performDefaultHandling, nil)
    }

    /// It begins as it is.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler:
            @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        completionHandler(.continueLoading, nil)
    }

    /// It is not tried again with another request.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willRenewRequest request: URLRequest,
        refusedWith response: HTTPURLResponse,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        session.box.leavesToUs(.renewals)
        completionHandler(nil)
    }
}

/// What a session is told of its uploads beside their end.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The body of the answer to an upload, or its first 32 KiB, which are all that is kept of it.
    /// Told at once with the end.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - dataTask: The upload.
    ///   - data: The bytes.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

extension URLSessionDataDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive data: Data
    ) {}
}

/// What a session is told of its downloads.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// A download is complete. Its file is removed when this returns: it is moved or read here.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - downloadTask: The task.
    ///   - location: The file.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    )

    /// Bytes have come. Told only while the app runs.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - downloadTask: The task.
    ///   - bytesWritten: Since it was told last.
    ///   - totalBytesWritten: In all.
    ///   - totalBytesExpectedToWrite: ``NSURLSessionTransferSizeUnknown`` when the server did not
    ///     say.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    )

    /// An interrupted download goes on. Told only while the app runs.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - downloadTask: The task.
    ///   - fileOffset: Bytes that were there before.
    ///   - expectedTotalBytes: ``NSURLSessionTransferSizeUnknown`` when the server did not say.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    )
}

extension URLSessionDownloadDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {}
}
