// Background sessions of URLSession.
extension SymbolTable {
    static let foreignSessions = [
        "URLSession.shared", "URLSessionConfiguration.default",
        "URLSessionConfiguration.ephemeral",
    ]

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
                "URLRequest", "URLResponse", "HTTPURLResponse", "httpCookieStorage",
                "httpCookieAcceptPolicy", "httpShouldSetCookies", "httpShouldHandleCookies",
                "HTTPCookie", "HTTPCookieStorage", "HTTPCookiePropertyKey",
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
            foreignSessions,
            .path,
            .differs,
            "Offstage has background sessions only.",
            instead: "Move it to a file that imports FoundationNetworking and not Offstage.",
            implicit: .argument("configuration")
        )
        + sessionsElsewhere + sessionOptions

    private static let sessionsElsewhere: [Symbol] =
        .all(
            ["URLSessionTaskMetrics"],
            .name,
            .notYet,
            "Background sessions measure nothing.",
            instead: "Leave it out."
        )
        + .all(
            ["networkUnavailableReason"],
            .name,
            .notYet,
            "A background session waits for its network, and does not fail without it.",
            instead: "Leave it out."
        )
        + .all(
            ["serverTrust", "SecTrust"],
            .name,
            .notYet,
            "An app is not asked about the certificate of a server.",
            instead: "Have the certificate signed by an authority that the system trusts."
        )

    private static let sessionOptions: [Symbol] =
        .all(
            [
                "urlCache", "urlCredentialStorage", "connectionProxyDictionary", "protocolClasses",
                "multipathServiceType", "tlsMinimumSupportedProtocolVersion",
                "tlsMaximumSupportedProtocolVersion",
            ],
            .name,
            .never,
            "Background sessions do not have it: the daemon fetches, as the system is set up.",
            instead: "Leave it out."
        )
        + .all(
            ["session.reset"],
            .path,
            .notYet,
            "What a background session was told of credentials cannot be taken back.",
            instead: "Give a credential the persistence .none: it is for one task."
        )
        + .all(
            [
                "networkServiceType", "httpShouldUsePipelining",
                "shouldUseExtendedBackgroundIdleMode", "prefersIncrementalDelivery",
                "httpMaximumConnectionsPerHost",
            ],
            .name,
            .differs,
            "It compiles, and has no effect in background sessions."
        )

    static let sessionDelegates: [Symbol] =
        .all(
            [
                "urlSession(_:didBecomeInvalidWithError:)",
                "urlSessionDidFinishEvents(forBackgroundURLSession:)",
                "urlSession(_:task:didCompleteWithError:)",
                "urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)",
                "urlSession(_:task:didReceive:completionHandler:)",
                "urlSession(_:task:didReceive:)",
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
            ["urlSession(_:task:willBeginDelayedRequest:completionHandler:)"],
            .method,
            .differs,
            "It compiles. An app that is suspended or closed is not asked: its request goes out.",
            instead: "Set launchesForDelayedRequests of the configuration to be launched for it."
        )
        + .all(
            ["urlSession(_:didReceive:completionHandler:)"],
            .method,
            .differs,
            "It compiles, and background sessions do not call it: the system judges certificates.",
            instead: "For passwords: urlSession(_:task:didReceive:completionHandler:)."
        )
        + .all(
            [
                "urlSession(_:taskIsWaitingForConnectivity:)",
                "urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)",
            ],
            .method,
            .notYet,
            "It compiles, and background sessions do not call it.",
            instead: "Nothing of the app may depend on it."
        )
        + .all(
            [
                "urlSession(_:task:didFinishCollecting:)",
                "urlSession(_:dataTask:didReceive:completionHandler:)",
            ],
            .method,
            .notYet,
            "It does not compile: one of its parameters has no type here.",
            instead: "Leave it out on Linux. Background sessions do not call it."
        )
}
