public import Foundation
internal import Vocabulary

/// The key of ``Foundation/URLError/downloadTaskResumeData`` in the `userInfo` of an error.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"
/// The key of ``Foundation/URLError/uploadTaskResumeData`` in the `userInfo` of an error.
public let NSURLSessionUploadTaskResumeData = "NSURLSessionUploadTaskResumeData"

extension URLError {
    /// For ``URLSession/downloadTask(withResumeData:)``; nil: nothing has come, or nothing that
    /// could be gone on with.
    public var downloadTaskResumeData: Data? {
        userInfo[NSURLSessionDownloadTaskResumeData] as? Data
    }

    /// For ``URLSession/uploadTask(withResumeData:)``; nil: the server does not support it, or has
    /// nothing of the file.
    public var uploadTaskResumeData: Data? {
        userInfo[NSURLSessionUploadTaskResumeData] as? Data
    }

    /// Why the system ended a task.
    public enum BackgroundTaskCancelledReason: Int, Sendable {
        /// The user has closed the app.
        case userForceQuitApplication = 0
        case backgroundUpdatesDisabled = 1
        case insufficientSystemResources = 2
    }

    /// Nil: the system did not end it.
    public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
        (userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int)
            .flatMap(BackgroundTaskCancelledReason.init)
    }
}

extension URLError {
    /// Nil: the task ended well.
    init?(_ end: SessionTaskEnd) {
        switch end.result.known {
        case .finished: return nil
        case .cancelled: self.init(.cancelled, reason: "the task was cancelled", of: end)
        // A word of a later daemon is no success.
        case .failed, nil: self.init(failed: end)
        }
    }

    private init(failed end: SessionTaskEnd) {
        let reason = end.reason ?? "it failed"
        switch end.failure?.known {
        case .closedByUser:
            let why = BackgroundTaskCancelledReason.userForceQuitApplication.rawValue
            self.init(
                .cancelled,
                reason: reason,
                of: end,
                [NSURLErrorBackgroundTaskCancelledReasonKey: why]
            )
        case .timedOut: self.init(.timedOut, reason: reason, of: end)
        case .tooManyRedirects: self.init(.httpTooManyRedirects, reason: reason, of: end)
        case .badRedirect: self.init(.redirectToNonExistentLocation, reason: reason, of: end)
        case .untrusted: self.init(.serverCertificateUntrusted, reason: reason, of: end)
        case .tooLarge: self.init(.dataLengthExceedsMaximum, reason: reason, of: end)
        case .file, .exists: self.init(.cannotCreateFile, reason: reason, of: end)
        case .badURL: self.init(.badURL, reason: reason, of: end)
        case .resumeGone: self.init(.cannotOpenFile, reason: reason, of: end)
        case .source: self.init(.cannotOpenFile, reason: reason, of: end)
        case .uncertain: self.init(.networkConnectionLost, reason: reason, of: end)
        case .badAnswer: self.init(.badServerResponse, reason: reason, of: end)
        // And what a later daemon may say.
        case .status, .checksum, .credentials, nil:
            self.init(.unknown, reason: reason, of: end)
        }
    }

    private init(
        _ code: URLError.Code,
        reason: String,
        of end: SessionTaskEnd,
        _ more: [String: Any] = [:]
    ) {
        var info = NSError.userInfo(of: reason)
        if let url = URL(string: end.task.url) { info[NSURLErrorFailingURLErrorKey] = url }
        if let token = end.resume {
            let method = end.task.method
            let resume = ResumeData(token: token, url: end.task.url, method: method)
            let key =
                method == nil
                ? NSURLSessionDownloadTaskResumeData : NSURLSessionUploadTaskResumeData
            info[key] = resume.data
        }
        self.init(code, userInfo: info.merging(more) { $1 })
    }

    /// What is refused before it reaches the daemon, or by it.
    init(_ code: URLError.Code, reason: String) {
        self.init(code, userInfo: NSError.userInfo(of: reason))
    }
}
