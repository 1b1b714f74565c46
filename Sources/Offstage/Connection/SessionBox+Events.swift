internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// What the daemon says of tasks, and what the delegate is told of it.
extension SessionBox {
    /// A task has ended, which the delegate has not been told by this process.
    func ended(_ end: SessionTaskEnd, _ number: IncomingNumber) {
        let isHeld = state.withLock { state -> Bool? in
            // Nobody would be told. Without an answer the next session of the name is.
            guard !state.hasLeft else { return nil }
            state.remaining = end.remaining
            state.unacknowledged += 1
            state.held?.append(.ended(end, number))
            if state.held == nil { state.underWay += 1 }
            return state.held != nil
        }
        if isHeld == false { tell(end, number) }
    }

    private func tell(_ end: SessionTaskEnd, _ number: IncomingNumber) {
        queue.addOperation { [self] in
            if let task = task(of: end.task), isNews(Int(end.task.task)) {
                finish(task, end, URLError(end))
            }
            // The delegate has returned; who reads the events may not be done with them.
            let isRead = events.whenLeft { [self] in queue.addOperation { self.took(number) } }
            if !isRead { took(number) }
        }
    }

    /// By this the daemon knows that it needs to say it no more.
    private func took(_ number: IncomingNumber) {
        app.answer(number)
        state.withLock { state in
            state.underWay -= 1
            state.unacknowledged -= 1
        }
        finishEventsIfTold()
        becomeInvalidIfOver()
    }

    private func isNews(_ number: Int) -> Bool {
        state.withLock { $0.told.insert(number).inserted }
    }

    func task(of report: SessionTaskReport) -> URLSessionTask? {
        state.withLock { state in
            if let known = state.tasks[Int(report.task)] { return known }
            return state.session.map { URLSessionTask.known($0, report) }
        }
    }

    /// On the delegate queue.
    func finish(_ task: URLSessionTask, _ end: SessionTaskEnd?, _ error: URLError?) {
        let isOver = task.values.withLock { values in
            defer { values.state = .completed }
            if let end { values.response = HTTPURLResponse.of(end) }
            values.error = error
            return values.state == .completed
        }
        let keepers = task.values.withLock { values in
            defer { values.keepers = [] }
            return values.keepers
        }
        for keeper in keepers {
            keeper(error?.downloadTaskResumeData ?? error?.uploadTaskResumeData)
        }
        guard !isOver else { return }
        let (session, delegate) = state.withLock { state in
            state.tasks[task.taskIdentifier] = nil
            return (state.session, state.delegate)
        }
        guard let session else { return }
        if let end { keepCookies(of: end, task) }
        if error == nil, let size = end?.size { took(end, size, task, session, delegate) }
        // An app that was told before, and died before that was known, has taken its file. Told
        // once more, it would make room for a file that is not there.
        if error == nil, let file = end?.file, FileManager.default.fileExists(atPath: file),
            let download = task as? URLSessionDownloadTask
        {
            (delegate as? any URLSessionDownloadDelegate)?
                .urlSession(
                    session,
                    downloadTask: download,
                    didFinishDownloadingTo: URL(fileURLWithPath: file)
                )
            // What the delegate has moved is no longer there.
            if FileManager.default.fileExists(atPath: file) {
                events.add(.finished(download, file: URL(fileURLWithPath: file)))
            }
        }
        (delegate as? any URLSessionTaskDelegate)?
            .urlSession(session, task: task, didCompleteWithError: error)
        events.add(.completed(task, error))
    }

    /// All bytes have come, or were sent, and the answer to them.
    private func took(
        _ end: SessionTaskEnd?,
        _ size: Int64,
        _ task: URLSessionTask,
        _ session: URLSession,
        _ delegate: (any URLSessionDelegate)?
    ) {
        guard let upload = task as? URLSessionUploadTask else { return task.progressed(size, size) }
        task.sent(size, of: size)
        guard let body = end?.body?.array else { return }
        task.values.withLock { ($0.received, $0.total) = (Int64(body.count), Int64(body.count)) }
        (delegate as? any URLSessionDataDelegate)?
            .urlSession(session, dataTask: upload, didReceive: Data(body))
        events.add(.received(upload, Data(body)))
    }

    func progressed(_ progress: TaskProgress) {
        let (task, session, delegate) = state.withLock {
            ($0.tasks[Int(progress.task)], $0.session, $0.delegate)
        }
        guard let session, let task else { return }
        guard let task = task as? URLSessionDownloadTask else {
            return sent(progress, task, session, delegate)
        }
        queue.addOperation { [events] in
            let before = task.countOfBytesReceived
            task.progressed(progress.received, progress.total)
            let listener = delegate as? any URLSessionDownloadDelegate
            let total = progress.total ?? NSURLSessionTransferSizeUnknown
            if let offset = progress.resumedAt {
                listener?.urlSession(
                    session,
                    downloadTask: task,
                    didResumeAtOffset: offset,
                    expectedTotalBytes: total
                )
                events.add(.resumed(task, at: offset, of: total))
            } else {
                listener?.urlSession(
                    session,
                    downloadTask: task,
                    didWriteData: max(0, progress.received - before),
                    totalBytesWritten: progress.received,
                    totalBytesExpectedToWrite: total
                )
                events.add(.progress(task, bytes: progress.received, of: total))
            }
        }
    }

    private func sent(
        _ progress: TaskProgress,
        _ task: URLSessionTask,
        _ session: URLSession,
        _ delegate: (any URLSessionDelegate)?
    ) {
        queue.addOperation { [events] in
            let before = task.countOfBytesSent
            let total = progress.total ?? NSURLSessionTransferSizeUnknown
            task.sent(progress.received, of: total)
            guard progress.received > before else { return }
            (delegate as? any URLSessionTaskDelegate)?
                .urlSession(
                    session,
                    task: task,
                    didSendBodyData: progress.received - before,
                    totalBytesSent: progress.received,
                    totalBytesExpectedToSend: total
                )
            events.add(.progress(task, bytes: progress.received, of: total))
        }
    }

    // MARK: A launch for its events

    /// The app is about to be told why it was launched: events wait until it has been.
    func hold() { state.withLock { $0.held = $0.held ?? [] } }

    /// The app was launched for its events before it made the session.
    func expect(_ run: SessionRun) { state.withLock { $0.run = run } }

    /// The app has been told. It is asked again how much is to come: what was known may be from
    /// before it was suspended.
    func release(_ run: SessionRun) {
        let held = state.withLock { state in
            state.run = run
            state.remaining = nil
            let held = state.held.take() ?? []
            state.underWay += held.count
            return held
        }
        for event in held {
            switch event {
            case .ended(let end, let number): tell(end, number)
            case .asked(let question): ask(question)
            }
        }
        join()
    }

    /// All that was missed has been told.
    func finishEventsIfTold() {
        let told = state.withLock { state -> (URLSession, (any URLSessionDelegate)?)? in
            guard state.run != nil, state.remaining == 0, state.underWay == 0, state.held == nil
            else { return nil }
            state.run = nil
            return state.session.map { ($0, state.delegate) }
        }
        guard let (session, delegate) = told else { return }
        queue.addOperation { [events] in
            delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: session)
            events.add(.allDelivered)
        }
    }
}
