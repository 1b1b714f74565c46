import Vocabulary

/// By session: how many of its tasks are on their way, which ended ones its app has not
/// acknowledged, and which wait for its answer.
struct SessionQueues: Hashable, Sendable {
    private var queues: [Key: SessionQueue] = [:]

    private struct Key: Hashable {
        let app: Int
        let session: String
    }

    struct SessionQueue: Hashable, Sendable, Codable {
        let app: Int
        let session: String
        /// Neither suspended nor ended.
        var active = 0
        /// In the order in which they ended.
        var ended = TaskQueue()
        /// In the order in which they began to wait.
        var asking = TaskQueue()
    }

    subscript(_ app: Int, _ session: String) -> SessionQueue? {
        queues[Key(app: app, session: session)]
    }

    /// A transfer was another before. Nil: there was none, or there is none any more.
    mutating func changed(_ old: Transfer?, to new: Transfer?, app: Int) {
        guard let transfer = new ?? old, let task = transfer.task else { return }
        let (wasActive, isActive) = (old?.isActive ?? false, new?.isActive ?? false)
        let (oldPlace, place) = (old?.task?.place, new?.task?.place)
        let (oldQuestion, question) = (old?.question?.number, new?.question?.number)
        guard wasActive != isActive || oldPlace != place || oldQuestion != question else { return }
        func change(_ queue: inout SessionQueue) -> Bool {
            if wasActive != isActive { queue.active += isActive ? 1 : -1 }
            queue.ended.change(transfer.id, from: oldPlace, to: place)
            queue.asking.change(transfer.id, from: oldQuestion, to: question)
            return queue.active == 0 && queue.ended.isEmpty && queue.asking.isEmpty
        }
        let key = Key(app: app, session: task.session)
        let new = SessionQueue(app: app, session: task.session)
        if change(&queues[key, default: new]) { queues[key] = nil }
    }
}

extension SessionQueues: Codable {
    /// As a list, so that the form does not depend on the order of a dictionary.
    init(from decoder: any Decoder) throws {
        for queue in try [SessionQueue](from: decoder) {
            queues[Key(app: queue.app, session: queue.session)] = queue
        }
    }

    func encode(to encoder: any Encoder) throws {
        try queues.values.sorted { ($0.app, $0.session) < ($1.app, $1.session) }
            .encode(to: encoder)
    }
}
