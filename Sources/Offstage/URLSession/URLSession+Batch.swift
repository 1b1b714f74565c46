/// Many tasks at once. Not Apple's.
extension URLSession {
    /// A download of each request, suspended until it is resumed: by ``resumeAll(_:)`` all of them
    /// go to the daemon together.
    ///
    /// - Parameter requests: Each of the method GET, with an http or https URL.
    /// - Returns: The tasks, in the order of the requests; those of other requests fail when they
    ///   are resumed.
    public func downloadTasks(with requests: [URLRequest]) -> [URLSessionDownloadTask] {
        requests.map { downloadTask(with: $0) }
    }

    /// Begins tasks, or lets them go on. Downloads that are resumed for the first time go to the
    /// daemon in one call (`EnqueueTasks`) with no others, and are durable in one commit. It is one
    /// call for up to 10,000 tasks or about 3 MB, whichever is less; more go in several. The daemon
    /// takes all of a call or none; of those that it refuses, only the bad ones fail, and the rest
    /// goes in smaller calls. Uploads go 32 to a call, each with its open file.
    ///
    /// - Parameter tasks: Of this session; each other is resumed by itself.
    public func resumeAll(_ tasks: [URLSessionTask]) {
        box.resumeAll(tasks.filter { $0.session === self })
        for task in tasks where task.session !== self { task.resume() }
    }
}
