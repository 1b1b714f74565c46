import Foundation
import Offstage

/// An app that sends and fetches in a background session, as its environment says: `DO`, and with
/// it `SERVER` and `FILE`. What it is told is in its log.
@main
final class SessionPeer: UIResponder, UIApplicationDelegate {
    private let transfers = Transfers()
    private let collector = Collector()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        if collector.isWanted { collector.connect() } else { transfers.connect() }
        return true
    }

    func applicationDidBecomeActive(_ application: UIApplication) {
        if collector.isWanted { collector.begin() } else { transfers.begin() }
    }

    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        guard !collector.isWanted else { return collector.launched(completionHandler) }
        say("rejoined")
        transfers.whenDelivered = completionHandler
    }
}

@MainActor
final class Transfers: NSObject {
    var whenDelivered: (() -> Void)?
    private var session: URLSession?
    private let environment = ProcessInfo.processInfo.environment

    func connect() {
        let configuration = URLSessionConfiguration.background(withIdentifier: "peer")
        configuration.httpAdditionalHeaders = ["X-Session": "1"]
        configuration.sessionSendsLaunchEvents = environment["QUIET"] == nil
        configuration.allowsExpensiveNetworkAccess = environment["CHEAP"] == nil
        guard environment["DO"] != "read" else { return read(configuration) }
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: .main)
    }

    /// With `DO=read`: what a delegate would be told comes from a loop. The first process ends
    /// before it is done with the file.
    private func read(_ configuration: URLSessionConfiguration) {
        let reading = URLSession(configuration: configuration)
        session = reading
        let events = reading.events
        Task { [weak self] in
            for await event in events { self?.read(event) }
        }
    }

    private func read(_ event: URLSession.Event) {
        switch event {
        case .finished(_, let file):
            let target = environment["FILE"] ?? "fetched"
            let marker = target + ".seen"
            guard FileManager.default.fileExists(atPath: marker) else {
                _ = FileManager.default.createFile(atPath: marker, contents: Data())
                say("dies")
                exit(1)
            }
            do {
                try FileManager.default.moveItem(at: file, to: URL(fileURLWithPath: target))
                say("fetched")
            } catch {
                say("not moved: \(error)")
            }
        case .completed(_, let error): say(error == nil ? "it ended" : "it failed")
        case .allDelivered:
            say("all delivered")
            whenDelivered?()
            whenDelivered = nil
        case .resumed, .progress, .received, .invalidated: break
        }
    }

    /// Once: the tasks of an earlier launch are only named.
    func begin() {
        let folder = FileManager.default
            .urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let marker = folder.appendingPathComponent("begun").path
        guard !FileManager.default.fileExists(atPath: marker) else {
            session?.getAllTasks { tasks in
                for task in tasks {
                    let request = task.originalRequest
                    let own = request?.value(forHTTPHeaderField: "X-Own") ?? "nothing"
                    let method = request?.httpMethod ?? "nothing"
                    say("has \(task.taskDescription ?? "it"), a \(method) with \(own)")
                }
            }
            return
        }
        _ = FileManager.default.createFile(atPath: marker, contents: Data())
        guard let url = URL(string: environment["SERVER"] ?? "") else { return say("no server") }
        var request = URLRequest(url: url)
        request.setValue("its own", forHTTPHeaderField: "X-Own")
        switch environment["DO"] {
        case "upload":
            request.httpMethod = "POST"
            let file = URL(fileURLWithPath: environment["FILE"] ?? "")
            let task = session?.uploadTask(with: request, fromFile: file)
            task?.taskDescription = "a file"
            task?.resume()
        case "later":
            let task = session?.downloadTask(with: request)
            task?.earliestBeginDate = Date(timeIntervalSinceNow: 1)
            task?.resume()
        default:
            session?.downloadTask(with: request).resume()
        }
        say("begun")
    }
}

extension Transfers: URLSessionDataDelegate, URLSessionDownloadDelegate {
    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        say("sent of \(totalBytesExpectedToSend)")
    }

    nonisolated func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive data: Data
    ) {
        let status = (dataTask.response as? HTTPURLResponse)?.statusCode ?? 0
        say("answer \(status) \(String(decoding: data, as: UTF8.self))")
    }

    nonisolated func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let target = ProcessInfo.processInfo.environment["FILE"] ?? "fetched"
        do {
            try FileManager.default.moveItem(at: location, to: URL(fileURLWithPath: target))
            say("fetched")
        } catch {
            say("not moved: \(error)")
        }
    }

    nonisolated func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        let environment = ProcessInfo.processInfo.environment
        if environment["DO"] == "progress" {
            say("wrote \(totalBytesWritten) of \(totalBytesExpectedToWrite)")
        }
        guard environment["DO"] == "pause", downloadTask.taskDescription != "again",
            downloadTask.state == .running
        else { return }
        downloadTask.cancel(byProducingResumeData: { data in
            guard let data else { return say("no resume data") }
            let again = session.downloadTask(withResumeData: data)
            again.taskDescription = "again"
            again.resume()
            say("goes on")
        })
    }

    nonisolated func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        say("resumed \(fileOffset > 0) of \(expectedTotalBytes)")
    }

    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {
        let what = task.taskDescription ?? "it"
        if let response = task.response as? HTTPURLResponse {
            say("status \(response.statusCode)")
            say("has \(response.expectedContentLength) of \(response.mimeType ?? "nothing known")")
        }
        say(error.map { "\(what) failed \(($0 as NSError).code)" } ?? "\(what) ended")
        guard ProcessInfo.processInfo.environment["DO"] == "cookies", what != "second",
            let request = task.originalRequest
        else { return }
        let second = session.downloadTask(with: request)
        second.taskDescription = "second"
        second.resume()
    }

    // MARK: Questions

    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        let method = space.authenticationMethod.dropFirst("NSURLAuthenticationMethod".count)
        let failures = challenge.previousFailureCount
        say("challenged \(method) \(space.realm ?? "") \(failures)")
        whenAsked {
            switch $0 {
            case "default": completionHandler(.performDefaultHandling, nil)
            case "cancel": completionHandler(.cancelAuthenticationChallenge, nil)
            case let password:
                let credential = URLCredential(
                    user: "me",
                    password: password,
                    persistence: .none
                )
                completionHandler(.useCredential, credential)
            }
        }
    }

    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willRenewRequest request: URLRequest,
        refusedWith response: HTTPURLResponse,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        guard let token = ProcessInfo.processInfo.environment["TOKEN"] else {
            return completionHandler(nil)
        }
        say("renews after \(response.statusCode)")
        var renewed = request
        renewed.setValue(token, forHTTPHeaderField: "Token")
        completionHandler(renewed)
    }

    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        say("its date has come")
        var renewed = request
        renewed.setValue("fresh", forHTTPHeaderField: "Token")
        completionHandler(.useNewRequest, renewed)
    }

    /// As the environment says (`ANSWER`), or, if that names a file, as that says when it is there.
    nonisolated private func whenAsked(_ answer: @escaping (String) -> Void) {
        let said = ProcessInfo.processInfo.environment["ANSWER"] ?? "default"
        guard said.hasPrefix("/") else { return answer(said) }
        if let text = try? String(contentsOfFile: said, encoding: .utf8) { return answer(text) }
        let answer = Unchecked(answer)
        DispatchQueue.main.asyncAfter(deadline: .now() + 0.02) { [self] in
            whenAsked(answer.value)
        }
    }

    nonisolated func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        MainActor.assumeIsolated {  // The delegate queue is the main queue.
            say("all delivered")
            whenDelivered?()
            whenDelivered = nil
        }
    }
}

/// Used on the main queue only.
private struct Unchecked: @unchecked Sendable {
    let value: (String) -> Void
    init(_ value: @escaping (String) -> Void) { self.value = value }
}

/// One line, written at once: a frozen or killed app loses nothing that it has said.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
