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
        var ended: [EndedTask] = []
        /// In the order in which they began to wait.
        var asking: [AskingTask] = []
    }

    struct EndedTask: Hashable, Sendable, Codable {
        let id: TransferID
        let place: UInt64
    }

    struct AskingTask: Hashable, Sendable, Codable {
        let id: TransferID
        /// Of the question.
        let number: UInt64
    }

    subscript(_ app: Int, _ session: String) -> SessionQueue? {
        queues.first { $0.app == app && $0.session == session }
    }

    /// A transfer was another before. Nil: there was none, or there is none any more.
    mutating func changed(_ old: Transfer?, to new: Transfer?, app: Int) {
        guard let task = (new ?? old)?.task else { return }
        let (wasActive, isActive) = (old?.isActive ?? false, new?.isActive ?? false)
        let (oldPlace, place) = (old?.task?.place, new?.task?.place)
        let (oldQuestion, question) = (old?.question?.number, new?.question?.number)
        guard wasActive != isActive || oldPlace != place || oldQuestion != question else { return }
        let index = index(app, task.session)
        if wasActive != isActive { queues[index].active += isActive ? 1 : -1 }
        if oldPlace != nil, let old { queues[index].ended.removeAll { $0.id == old.id } }
        if let place, let new {
            // Nearly always at the end; records are restored in any order.
            let ended = EndedTask(id: new.id, place: place)
            let position = queues[index].ended.lastIndex { $0.place < place }
            queues[index].ended.insert(ended, at: position.map { $0 + 1 } ?? 0)
        }
        if oldQuestion != question {
            queues[index].changed((new ?? old)?.id ?? TransferID(0), question)
        }
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

extension SessionQueues.SessionQueue {
    /// A task waits for the answer to this question; nil: to none.
    fileprivate mutating func changed(_ id: TransferID, _ question: UInt64?) {
        asking.removeAll { $0.id == id }
        guard let question else { return }
        let position = asking.lastIndex { $0.number < question }
        let task = SessionQueues.AskingTask(id: id, number: question)
        asking.insert(task, at: position.map { $0 + 1 } ?? 0)
    }
}
