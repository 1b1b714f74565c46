import Foundation
import Offstage

/// With `DO=collect`: with each opening it fetches the files of the round that is named in the file
/// `round` in the directory `FILE`, once, and keeps them there. What it is told it adds to the file
/// `notes` beside them.
@MainActor
final class Collector: NSObject {
    private var whenDelivered: (() -> Void)?
    private var session: URLSession?
    private static let environment = ProcessInfo.processInfo.environment
    private nonisolated static let folder = ProcessInfo.processInfo.environment["FILE"] ?? "."

    var isWanted: Bool { Self.environment["DO"] == "collect" }

    func connect() {
        let configuration = URLSessionConfiguration.background(withIdentifier: "collector")
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: .main)
    }

    func begin() {
        let round = try? String(contentsOfFile: "\(Self.folder)/round", encoding: .utf8)
        guard let round, let server = Self.environment["SERVER"],
            let count = Self.environment["COUNT"].flatMap(Int.init)
        else { return note("nothing to collect") }
        let marker = "\(Self.folder)/begun-\(round)"
        let isKnown = FileManager.default.fileExists(atPath: marker)
        guard !isKnown else { return note("opened \(round)") }
        _ = FileManager.default.createFile(atPath: marker, contents: Data())
        for index in 0..<count {
            guard let url = URL(string: "\(server)/\(round)-\(index)") else { continue }
            let task = session?.downloadTask(with: url)
            task?.taskDescription = "\(round)-\(index)"
            task?.resume()
        }
        note("begun \(round)")
    }

    func launched(_ completionHandler: @escaping () -> Void) {
        note("launched")
        whenDelivered = completionHandler
    }

    private nonisolated func note(_ line: String) {
        guard let file = FileHandle(forWritingAtPath: "\(Self.folder)/notes") else { return }
        file.seekToEndOfFile()
        file.write(Data("\(line)\n".utf8))
    }
}

extension Collector: URLSessionDownloadDelegate {
    nonisolated func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let name = downloadTask.taskDescription ?? "unnamed"
        note("takes \(name) \(downloadTask.taskIdentifier)")
        let target = URL(fileURLWithPath: "\(Self.folder)/\(name)")
        try? FileManager.default.removeItem(at: target)
        do {
            try FileManager.default.moveItem(at: location, to: target)
        } catch {
            note("could not take \(name): \(error)")
        }
    }

    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {
        let what = "\(task.taskDescription ?? "unnamed") \(task.taskIdentifier)"
        note(error.map { "failed \(what): \($0)" } ?? "ended \(what)")
    }

    nonisolated func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        MainActor.assumeIsolated {  // The delegate queue is the main queue.
            note("delivered")
            whenDelivered?()
            whenDelivered = nil
        }
    }
}
