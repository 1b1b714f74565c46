// Background sessions of URLSession.
extension SymbolTable {
    static let sessions: [Symbol] =
        .all(
            [
                "URLSession", "URLSessionConfiguration", "URLSessionTask", "URLSessionDataTask",
                "URLSessionUploadTask", "URLSessionDownloadTask", "URLSessionDelegate",
                "URLSessionTaskDelegate", "URLSessionDataDelegate", "URLSessionDownloadDelegate",
                "isDiscretionary", "sessionSendsLaunchEvents", "allowsExpensiveNetworkAccess",
                "allowsConstrainedNetworkAccess", "finishTasksAndInvalidate",
                "invalidateAndCancel", "countOfBytesClientExpectsToSend",
                "countOfBytesClientExpectsToReceive", "downloadTaskResumeData",
                "uploadTaskResumeData", "backgroundTaskCancelledReason",
                "NSURLSessionDownloadTaskResumeData", "NSURLSessionUploadTaskResumeData",
                "URLAuthenticationChallenge", "URLCredential", "URLProtectionSpace",
                "URLRequest", "URLResponse", "HTTPURLResponse",
            ],
            .name,
            .here
        ) + [
            Symbol(
                "URLSessionConfiguration.background",
                .path,
                .here,
                implicit: .call("withIdentifier")
            ),
            Symbol("downloadTask(withResumeData:)", .label("withResumeData"), .here),
        ]
        + .all(
            [
                "URLSession.shared", "URLSessionConfiguration.default",
                "URLSessionConfiguration.ephemeral",
            ],
            .path,
            .differs,
            "Offstage has background sessions only.",
            instead: "Move it to a file that imports FoundationNetworking and not Offstage.",
            implicit: .argument("configuration")
        )
        + .all(
            ["httpCookieStorage", "URLSessionTaskMetrics", "networkUnavailableReason"],
            .name,
            .notYet,
            "Background sessions have no such thing.",
            instead: "For cookies: httpAdditionalHeaders."
        )
        + .all(
            ["serverTrust", "SecTrust"],
            .name,
            .notYet,
            "An app is not asked about the certificate of a server.",
            instead: "Have the certificate signed by an authority that the system trusts."
        )

    static let sessionDelegates: [Symbol] =
        .all(
            [
                "urlSession(_:didBecomeInvalidWithError:)",
                "urlSession(_:didReceive:completionHandler:)",
                "urlSessionDidFinishEvents(forBackgroundURLSession:)",
                "urlSession(_:task:didCompleteWithError:)",
                "urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)",
                "urlSession(_:task:didReceive:completionHandler:)",
                "urlSession(_:task:didReceive:)",
                "urlSession(_:task:willBeginDelayedRequest:completionHandler:)",
                "urlSession(_:dataTask:didReceive:)",
                "urlSession(_:downloadTask:didFinishDownloadingTo:)",
                "urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)",
                "urlSession(_:downloadTask:didWriteData:totalBytesWritten:"
                    + "totalBytesExpectedToWrite:)",
            ],
            .method,
            .here
        )
        + .all(
            [
                "urlSession(_:task:didFinishCollecting:)",
                "urlSession(_:taskIsWaitingForConnectivity:)",
                "urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)",
                "urlSession(_:dataTask:didReceive:completionHandler:)",
            ],
            .method,
            .notYet,
            "It compiles, and background sessions do not call it.",
            instead: "Nothing of the app may depend on it."
        )
}
