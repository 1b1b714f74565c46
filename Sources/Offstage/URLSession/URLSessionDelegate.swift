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
    ///   - totalBytesExpectedToSend: The size of the file.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
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
