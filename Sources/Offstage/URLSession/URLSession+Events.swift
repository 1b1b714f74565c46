public import Foundation

extension URLSession {
    /// What a session tells who reads ``events``: the same that it tells its delegate.
    public enum Event: Sendable {
        /// An interrupted download goes on behind the bytes that were there before. Of: bytes in
        /// all, or ``NSURLSessionTransferSizeUnknown``. Only while the app runs.
        case resumed(URLSessionDownloadTask, at: Int64, of: Int64)
        /// So many bytes of a download have come, or of an upload were sent, in all. Of: as above.
        /// Only while the app runs; the newest takes the place of one that was not taken.
        case progress(URLSessionTask, bytes: Int64, of: Int64)
        /// The body of the answer to an upload, or its first 32 KiB, at once with the end.
        case received(URLSessionUploadTask, Data)
        /// A download is complete. Its file is removed when the event behind `completed` of this
        /// task is asked for: it is moved or read before.
        case finished(URLSessionDownloadTask, file: URL)
        /// A task has ended; nil: the server has answered, also with a status of 400 or more.
        case completed(URLSessionTask, URLError?)
        /// All that the app has missed has been taken: the place to call the completion handler of
        /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
        case allDelivered
        /// The last one: the session takes no more tasks. Nil: the app asked for it.
        case invalidated(URLError?)
    }

    /// The events of a session, in order, without an end before the session is invalidated.
    public struct Events: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = Event

        fileprivate let queue: EventQueue

        /// One reader. It is done with an event when it asks for the next one.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            fileprivate let queue: EventQueue
            fileprivate let reader: UInt64

            /// The next event.
            ///
            /// - Returns: Nil: the session is invalid, the task that asks was cancelled, or a
            ///   reader that was made later has begun to read.
            public func next() async -> Event? { await queue.next(reader) }
        }

        /// Begins with the event that no reader is done with yet.
        ///
        /// - Returns: A reader. There is to be one at a time.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(queue: queue, reader: queue.newReader())
        }
    }

    /// What the delegate is told, for a loop: `for await event in session.events`. Not Apple's.
    ///
    /// The end of a task is acknowledged when the event behind `completed` is asked for, so when
    /// the body of the loop has returned. If the app ends before that, or leaves the loop, it is
    /// told again: the next reader of this process gets it first, and so does the next launch.
    ///
    /// A session may have a delegate too. The delegate is called first, on its queue. An end is
    /// acknowledged when both are done with it. A file that the delegate has moved is no event.
    /// Questions are asked of the delegate only. A session without a delegate keeps its events
    /// until they are read, and takes tasks once this property has been used.
    ///
    /// Whoever has used it must go on reading: the daemon tells one end after another, and waits.
    public var events: Events {
        box.events.open()
        return Events(queue: box.events)
    }
}
