import Vocabulary

/// By session: how many of its tasks are on their way, which ended ones its app has not
/// acknowledged, and which wait for its answer.
struct SessionQueues: Hashable, Sendable, Codable {
    private var queues: [SessionQueue] = []

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
        queues.first { $0.app == app && $0.session == session }
    }

    /// A transfer was another before. Nil: there was none, or there is none any more.
    mutating func changed(_ old: Transfer?, to new: Transfer?, app: Int) {
        guard let transfer = new ?? old, let task = transfer.task else { return }
        let (wasActive, isActive) = (old?.isActive ?? false, new?.isActive ?? false)
        let (oldPlace, place) = (old?.task?.place, new?.task?.place)
        let (oldQuestion, question) = (old?.question?.number, new?.question?.number)
        guard wasActive != isActive || oldPlace != place || oldQuestion != question else { return }
        let index = index(app, task.session)
        if wasActive != isActive { queues[index].active += isActive ? 1 : -1 }
        queues[index].ended.change(transfer.id, from: oldPlace, to: place)
        queues[index].asking.change(transfer.id, from: oldQuestion, to: question)
        if queues[index].active == 0, queues[index].ended.isEmpty, queues[index].asking.isEmpty {
            queues.remove(at: index)
        }
    }

    private mutating func index(_ app: Int, _ session: String) -> Int {
        if let index = queues.firstIndex(where: { $0.app == app && $0.session == session }) {
            return index
        }
        queues.append(SessionQueue(app: app, session: session))
        return queues.count - 1
    }
}
