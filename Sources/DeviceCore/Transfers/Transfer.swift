package import Vocabulary

/// One download or upload, from the moment it was asked for until nobody needs it any more.
package struct Transfer: Hashable, Sendable, Codable {
    package let id: TransferID
    package internal(set) var order: TransferOrder
    package internal(set) var submittedAt: WallTime
    /// Its time-out counts from here: from when it was asked for, or resumed last.
    var countsFrom: WallTime
    package internal(set) var state: State
    /// What of the file is durable, and can be gone on with.
    @Rare package internal(set) var resume: FetchedPart? = nil
    /// Of an upload that was begun.
    @Rare package internal(set) var upload: UploadProgress? = nil
    /// After an attempt that was interrupted.
    @Rare package internal(set) var retry: Retry? = nil
    /// Of the complete file, in its directory.
    @Rare package internal(set) var name: String? = nil
    /// Other directories where its bytes may still be: it was moved from there, the last one last.
    /// Empty once its file is known to be open in `order.directory`.
    @OmittedIfDefault var formers: [String] = []
    /// Its place among those that wait; the smallest goes first. Nil: its number.
    @Rare var rank: Int64? = nil
    /// Those whose end is told together; nil: nobody is told.
    @Rare var group: TransferGroup? = nil
    /// Of the complete file, as the server said it.
    @Rare var modified: String? = nil
    /// Of the file, as it was opened last.
    @Rare var inode: UInt64? = nil
    /// Nil: it is of no app's session.
    @Rare package internal(set) var task: SessionTask?
    /// Of a session's task that has ended, for its app.
    @Rare var answer: ExchangeAnswer? = nil
    /// It has ended before its file was complete, and what has come is kept.
    @Rare package internal(set) var kept: KeptPart? = nil
    /// Whose unfinished file it goes on with; nil: its own.
    @Rare var partOf: TransferID? = nil
    /// Its server has sent another version beside the first one: over one connection it does not.
    @OmittedIfDefault var isAlone = false
    /// What it waits for its app to say; nil: nothing.
    @Rare package internal(set) var question: TransferQuestion? = nil
    /// What its app has said to servers that wanted to know who asks.
    @OmittedIfDefault var logins: [TransferLogin] = []
    /// Answers of its app in a row after which the server refused it once more.
    @OmittedIfDefault var refusals: Int64 = 0
    /// Its app takes status 401 for what it has asked for.
    @OmittedIfDefault var takesRefusal = false
    /// Its app has been asked whether it may begin at its date.
    @OmittedIfDefault var isConfirmed = false

    package enum State: Hashable, Sendable, Codable {
        /// By the user, until it is resumed.
        case paused
        /// For its date, its gates, its next attempt or its turn.
        case waiting
        indirect case running(Attempt)
        /// The whole object is in the file and durable; the file is to be given its name.
        case placing(size: Int64)
        indirect case ended(TransferEnd, at: WallTime)
    }

    /// One exchange with the server, from its order to its end.
    package struct Attempt: Hashable, Sendable, Codable {
        package let since: BootTime
        package internal(set) var answer: ExchangeAnswer?
        /// Bytes in the file, from its start; of an upload: those sent.
        package internal(set) var received: Int64 = 0
        /// Connections beside the first that it has, or may have once it is answered.
        @OmittedIfDefault package internal(set) var moreConnections: Int64 = 0
        /// What is durable of the file behind its first gap.
        @OmittedIfDefault var ranges: [Range<Int64>] = []
        /// It has been told to end, and this comes of it then; nil: it goes on.
        package internal(set) var then: Next?

        /// What comes of it as it ends unfinished.
        var next: Next { then ?? .wait }

        package enum Next: String, Hashable, Sendable, Codable {
            case wait, pause, cancel, timeOut, close, keep, exists

            /// Whether another may come in its place before the attempt has ended: a cancelled one
            /// is not only paused, and no gate lets go on what somebody has paused or ended.
            func yields(to next: Next) -> Bool {
                switch self {
                case .cancel: false
                case .keep: next == .cancel
                case .wait: true
                case .pause, .timeOut, .close, .exists: next != .wait
                }
            }

            /// The transfer is not to go on.
            var isEnd: Bool {
                switch self {
                case .cancel, .keep, .timeOut, .close, .exists: true
                case .wait, .pause: false
                }
            }
        }

        init(since: BootTime, received: Int64) { (self.since, self.received) = (since, received) }
    }

    /// When it is tried again, and why it has to be.
    package struct Retry: Hashable, Sendable, Codable {
        /// Not before it.
        package internal(set) var at: WallTime
        /// How long the wait was when it began, which a clock that is set does not lengthen.
        package let wait: Interval
        /// Attempts in a row that brought nothing.
        package let attempts: Int
        package let interruption: ExchangeEnd.Interruption
    }

    init(id: TransferID, order: TransferOrder, submittedAt: WallTime, task: SessionTask? = nil) {
        (self.id, self.order) = (id, order)
        _task = Rare(wrappedValue: task)
        (self.submittedAt, countsFrom) = (submittedAt, submittedAt)
        state = .waiting
    }

    /// The host that its first request goes to.
    var host: Substring { order.host }

    /// When time alone lets it begin.
    var date: WallTime { max(order.earliest ?? .distantPast, retry?.at ?? .distantPast) }

    /// Then it fails, whatever it waits for (`timeoutIntervalForResource`).
    var deadline: WallTime {
        let plain = countsFrom + order.resourceTimeout
        // An app has chosen both; where one leaves no time for the other, it counts from the date.
        guard let earliest = order.earliest, task == nil || earliest >= plain else { return plain }
        return max(plain, earliest + order.resourceTimeout)
    }

    /// Half of its time is over: it waits for no better moment any more.
    package var halfTime: WallTime { countsFrom + (deadline - countsFrom) / 2 }

    package var isEnded: Bool {
        switch state {
        case .ended: true
        case .paused, .waiting, .running, .placing: false
        }
    }

    var isRunning: Bool {
        switch state {
        case .running: true
        case .paused, .waiting, .placing, .ended: false
        }
    }

    /// It runs, and bytes of it are still to come, as far as anybody knows. Of an upload nobody
    /// knows before its end.
    var isReceiving: Bool {
        guard case .running(let attempt) = state else { return false }
        guard !order.direction.isUpload, let total = attempt.answer?.total else { return true }
        return attempt.received < total
    }

    /// What counts against the limits of connections.
    var connections: Int64 {
        guard case .running(let attempt) = state else { return 1 }
        return 1 + attempt.moreConnections
    }

    /// Bytes that the next attempt need not bring.
    var durable: Int64 { resume?.filled.count ?? upload?.resource?.offset ?? 0 }

    /// Bytes in the file, or sent of it, as far as anybody knows.
    package var received: Int64 {
        switch state {
        case .running(let attempt): attempt.received
        case .placing(let size), .ended(.finished(size: let size, name: _), at: _): size
        case .paused, .waiting, .ended: durable
        }
    }

    /// The length of the whole object; nil: not known.
    package var total: Int64? {
        if case .upload(let request) = order.direction { return request.source.size }
        return switch state {
        case .running(let attempt): attempt.answer?.total ?? resume?.total
        case .placing(let size), .ended(.finished(size: let size, name: _), at: _): size
        case .paused, .waiting, .ended: resume?.total
        }
    }

    var trigger: Trigger {
        let isDiscretionary = order.isDiscretionary || task?.isFromBackground ?? false
        return isDiscretionary ? .discretionaryTransfer : .transfer
    }

    /// What the gates are asked about.
    var work: Work {
        Work(
            trigger: trigger,
            origin: .transfer,
            mode: .normal,
            identifier: order.url,
            needs: order.needs,
            since: submittedAt,
            earliest: order.earliest,
            transfer: Shared(
                TransferWork(
                    id: id,
                    directory: order.directory,
                    host: String(host),
                    retry: retry,
                    question: question,
                    halfTime: halfTime,
                    mayBeginAhead: mayBeginAhead
                )
            )
        )
    }

    /// Holds no number that no version can have stored.
    var isValid: Bool {
        let numbers = [
            resume?.offset ?? 0, resume?.total ?? 0, order.moreConnections, order.rateLimit ?? 0,
            Int64(clamping: task?.place ?? 0), Int64(clamping: (rank ?? 0).magnitude),
            Int64(group?.count ?? 0), Int64(clamping: question?.number ?? 0), refusals,
        ]
        return numbers.allSatisfy { (0...1 << 60).contains($0) }
            && (retry?.attempts ?? 1).isCount && order.sha256?.count ?? 32 == 32
            && resume?.filled.isValid ?? true && upload?.isValid ?? true && order.direction.isValid
            && kept?.token.utf8.count ?? 0 <= 64 && question?.isValid ?? true
            && task?.isValid ?? true && formers.count <= Self.mostFormers
            && spans.allSatisfy { $0 >= .zero && $0 <= .days(36_600) }
    }

    static let mostFormers = 16

    /// Its bytes are looked for where it was, too, until its file is open.
    mutating func goTo(_ directory: String) {
        guard directory != order.directory else { return }
        formers.removeAll { $0 == directory }
        formers.append(order.directory)
        order.directory = directory
    }

    private var spans: [Interval] {
        [order.timeout, order.resourceTimeout, order.delay ?? .zero, retry?.wait ?? .zero]
    }

    package var file: TransferFile {
        var file = TransferFile(
            directory: order.directory,
            partialName: ".offstage-\(partOf ?? id).part",
            formers: formers,
            inode: inode,
            credentials: order.credentials
        )
        file.permissions = order.permissions
        return file
    }
}

extension Transfer {
    /// What its file is called by everybody but us: where an app's is kept meanwhile, it has a name
    /// that tells nobody anything. Nil: it is no app's, or not known yet.
    var ownFileName: String? {
        guard task != nil, !order.direction.isUpload, name != nil else { return nil }
        return FileName.suggested(by: answer, of: order.url)
    }

    /// Another file has the name that its own is to get.
    var existsFailure: TransferFailure {
        var last = answer
        if case .running(let attempt) = state { last = attempt.answer }
        return .exists(name ?? order.name ?? FileName.suggested(by: last, of: order.url))
    }

    /// The end as people are told it.
    func told(_ end: TransferEnd) -> TransferEnd {
        guard case .finished(let size, _) = end, let name = ownFileName else { return end }
        return .finished(size: size, name: name)
    }

    /// Its place among all.
    var place: Int64 { rank ?? Int64(clamping: id.number) }
    /// Its turn among those of its app.
    var turn: TransferTurn {
        TransferTurn(priority: task?.priority ?? 0, place: place, isSmall: isSmall)
    }

    /// Its app leaves the moment to the device, and has said that it is over soon: what fits into a
    /// short good moment goes first. Who was moved keeps the place that its user gave it.
    private var isSmall: Bool {
        guard let task, rank == nil, trigger == .discretionaryTransfer else { return false }
        let (sent, received) = (task.expectsToSend, task.expectsToReceive)
        guard let body = order.direction.isUpload ? sent : received else { return false }
        return max(body, sent ?? 0, received ?? 0) <= TransferTurn.smallSize
    }
}

/// The smallest goes first.
struct TransferTurn: Hashable, Sendable, Codable, Comparable {
    let priority: Int64
    let place: Int64
    /// Few bytes are expected of it. Counts only among discretionary ones that wait for a better
    /// moment.
    @OmittedIfDefault var isSmall = false

    /// Without what is expected of it.
    var plain: TransferTurn {
        var turn = self
        turn.isSmall = false
        return turn
    }

    /// Bytes.
    static let smallSize: Int64 = 1 << 20

    /// Those that were moved to the front have places below zero.
    private var group: Int { place < 0 ? 0 : isSmall ? 1 : 2 }

    static func < (left: Self, right: Self) -> Bool {
        (right.priority, left.group, left.place) < (left.priority, right.group, right.place)
    }
}

/// Transfers that were asked for at once; they have consecutive numbers.
struct TransferGroup: Hashable, Sendable, Codable {
    let first: TransferID
    let count: Int

    var ids: [TransferID] { (0..<UInt64(count)).map { TransferID(first.number + $0) } }
}

/// What only the gates of transfers look at.
struct TransferWork: Hashable, Sendable, Codable {
    let id: TransferID
    let directory: String
    /// That its first request goes to.
    let host: String
    let retry: Transfer.Retry?
    let question: TransferQuestion?
    let halfTime: WallTime
    let mayBeginAhead: Bool
}

/// An enqueue that was answered; its transfers have consecutive numbers.
package struct AnsweredTransfers: Hashable, Sendable, Codable {
    let token: String
    let first: TransferID
    let count: Int

    var ids: [TransferID] { (0..<UInt64(count)).map { TransferID(first.number + $0) } }
}

/// How a transfer ended. Each ends in exactly one of these.
package enum TransferEnd: Hashable, Sendable, Codable {
    /// The file has this name in its directory; an upload: the server has all of it.
    case finished(size: Int64, name: String)
    case failed(TransferFailure)
    case cancelled
}

extension TransferEnd {
    /// For programs.
    package var outcome: TransferOutcome {
        switch self {
        case .finished: .finished
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }

    package var word: String { outcome.rawValue }

    /// For a person.
    package var summary: String {
        switch self {
        case .finished(let size, let name): "\(name), \(ByteSize.text(size))"
        case .failed(let failure): failure.reason
        case .cancelled: "cancelled"
        }
    }
}

/// Why a transfer failed.
package struct TransferFailure: Hashable, Sendable, Codable {
    package var code: Code
    /// For a person.
    package var reason: String

    package enum Code: Hashable, Sendable, Codable {
        /// The exchange with the server.
        case exchange(ExchangeFailure.Code)
        /// It was not done in time (`timeoutIntervalForResource`).
        case timedOut
        /// The user has closed its app.
        case closedByUser
        /// What it was to go on with is not there: it was used, or it has been too long.
        case resumeGone
        /// There is a file of its name already.
        case exists
        /// The file cannot be made, or be given its name.
        case file
    }

    package init(code: Code, reason: String) { (self.code, self.reason) = (code, reason) }

    package static func exists(_ name: String) -> TransferFailure {
        let reason = "there is a file \(name) already; --overwrite replaces it"
        return TransferFailure(code: .exists, reason: reason)
    }
}

/// What is asked for: from where, where to, and when it may be fetched or sent. Only its place may
/// change.
package struct TransferOrder: Hashable, Sendable, Codable {
    package var url: String
    package var headers: [HTTPField]
    @OmittedIfDefault package var direction: TransferDirection
    /// An absolute path without links. The file goes there, or comes from there.
    package var directory: String
    /// In the directory; nil: the one that the server gives, else that of the URL. An upload has
    /// one.
    package var name: String?
    /// An existing file of the name is replaced, when the new one is complete.
    package var overwrites: Bool
    package var isDiscretionary: Bool
    package var needs: Needs
    @Rare package var earliest: WallTime? = nil
    /// How long after it was asked for `earliest` is, which a clock that is set does not lengthen;
    /// nil: it is the caller's own date.
    @Rare package var delay: Interval? = nil
    package var errors: ExchangeOrder.ErrorAnswers
    /// Of its file, in the bits of chmod; 0: the umask of the daemon decides.
    @OmittedIfDefault package var permissions: UInt16 = 0
    /// Of the whole file, as 32 bytes; nil: not checked.
    package var sha256: [UInt8]?
    package var timeout: Interval
    package var resourceTimeout: Interval
    /// Bytes a second; nil: no limit.
    @Rare package var rateLimit: Int64? = nil
    /// A URL; nil: what the setting or the environment says; empty: none.
    @Rare package var proxy: String? = nil
    @Rare package var credentials: CredentialFiles? = nil
    /// The user is told when it has ended, and all that were asked for with it.
    @OmittedIfDefault package var notifies = false
    /// Ranges of the file are fetched over so many connections beside the first.
    @OmittedIfDefault package var moreConnections: Int64 = 0

    package init(
        url: String,
        headers: [HTTPField] = [],
        direction: TransferDirection = .download,
        directory: String,
        name: String? = nil,
        overwrites: Bool = false,
        isDiscretionary: Bool = false,
        needs: Needs = Needs(),
        earliest: WallTime? = nil,
        errors: ExchangeOrder.ErrorAnswers = .fail,
        sha256: [UInt8]? = nil,
        timeout: Interval = UsualTimeout.request,
        resourceTimeout: Interval = UsualTimeout.resource,
        rateLimit: Int64? = nil,
        proxy: String? = nil
    ) {
        self.direction = direction
        (self.url, self.headers) = (url, headers)
        (self.directory, self.name, self.overwrites) = (directory, name, overwrites)
        (self.isDiscretionary, self.needs, self.earliest) = (isDiscretionary, needs, earliest)
        (self.errors, self.sha256, self.timeout) = (errors, sha256, timeout)
        (self.resourceTimeout, self.rateLimit, self.proxy) = (resourceTimeout, rateLimit, proxy)
    }

    package var host: Substring { url.urlHost }
}
