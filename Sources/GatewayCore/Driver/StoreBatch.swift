package import Vocabulary

/// Changes that are written together, in the order in which they came.
package struct StoreBatch: Sendable {
    package enum Change: Sendable {
        /// Seen for the first time at `since`.
        case device(DeviceID, key: [UInt8], since: WallTime)
        case seen(DeviceID, WallTime)
        case app(AppNumber, bundle: String)
        /// `withRest`: with its registrations and what is stored for it.
        case removeApp(AppNumber, bundle: String, withRest: Bool)
        /// The key is nobody's any more; what became of its tokens stays known.
        case removeDevice(DeviceID)
        /// Changes nothing, but must be written: whether the disk takes something.
        case probe
        case registration(DeviceID, Registration)
        /// Takes the slot, unless a newer one is there.
        case store(Push, in: SlotKey, expiration: WallTime)
        case remove(SlotKey, PushNumber)
        case channel(Channel)
        case removeChannel(ChannelID)
        /// Becomes the newest of its channel.
        case broadcast(Broadcast)
    }

    package var number: UInt64 = 0
    package var changes: [Change] = []
    package var log = LogBatch()

    package init() {}

    package var isEmpty: Bool { changes.isEmpty && log.isEmpty }
}

/// Lines of the delivery log in the order in which they came.
package struct LogBatch: Sendable {
    package struct Line: Sendable {
        package var number: PushNumber
        package var entry: LogRow.Entry
    }

    private var heads: [(number: PushNumber, head: LogRow.Head)] = []
    private var lines: [Line] = []

    package init() {}

    package var isEmpty: Bool { lines.isEmpty && heads.isEmpty }
    package var count: Int { lines.count }
    /// Pushes that were taken in this batch.
    package var acceptedCount: Int { heads.count }

    package mutating func accepted(_ push: Push, _ acceptance: Acceptance) {
        let head = LogRow.Head(
            target: .device(push.device, acceptance),
            app: push.app,
            type: push.type,
            priority: push.priority,
            size: push.payload.count
        )
        heads.append((push.number, head))
    }

    package mutating func accepted(
        _ broadcast: Broadcast,
        of app: AppNumber,
        from provider: String
    ) {
        let head = LogRow.Head(
            target: .channel(broadcast.channel, provider: provider),
            app: app,
            type: .liveactivity,
            priority: broadcast.priority,
            size: broadcast.payload.count
        )
        heads.append((broadcast.number, head))
    }

    package mutating func add(_ number: PushNumber, _ event: LogEvent, at wall: WallTime) {
        lines.append(Line(number: number, entry: LogRow.Entry(event: event, at: wall)))
    }

    /// Those of each push together, with its head if it was accepted in this batch; by number.
    /// Whoever writes them puts them in order: it takes time.
    package func forEachPush<Failure: Error>(
        _ body: (PushNumber, LogRow.Head?, ArraySlice<Line>) throws(Failure) -> Void
    ) throws(Failure) {
        let heads = self.heads.sorted { $0.number < $1.number }
        let unsorted = self.lines
        let order = unsorted.indices.sorted {
            (unsorted[$0].number.number, $0) < (unsorted[$1].number.number, $1)
        }
        let lines = order.map { unsorted[$0] }
        var (head, line) = (0, 0)
        while head < heads.count || line < lines.count {
            let isNext =
                line >= lines.count
                || head < heads.count
                    && heads[head].number <= lines[line].number
            let number = isNext ? heads[head].number : lines[line].number
            let start = line
            while line < lines.count, lines[line].number == number { line += 1 }
            try body(number, isNext ? heads[head].head : nil, lines[start..<line])
            if isNext { head += 1 }
        }
    }
}

/// What is known of one push.
package struct LogRow: Equatable, Sendable {
    package struct Head: Equatable, Sendable {
        package var target: Target
        package var app: AppNumber
        package var type: PushType
        package var priority: PushPriority
        package var size: Int

        package init(
            target: Target,
            app: AppNumber,
            type: PushType,
            priority: PushPriority,
            size: Int
        ) {
            (self.target, self.app, self.type) = (target, app, type)
            (self.priority, self.size) = (priority, size)
        }

        package var provider: String {
            switch target {
            case .device(_, let acceptance): acceptance.provider
            case .channel(_, let provider): provider
            }
        }
    }

    /// To whom it was sent, and by whom.
    package enum Target: Equatable, Sendable {
        case device(DeviceID, Acceptance)
        /// To all that follow it.
        case channel(ChannelID, provider: String)
    }

    package struct Entry: Equatable, Sendable {
        package var event: LogEvent
        package var at: WallTime

        package init(event: LogEvent, at: WallTime) { (self.event, self.at) = (event, at) }
    }

    package var number: PushNumber
    package var head: Head
    package var events: [Entry]

    package init(number: PushNumber, head: Head, events: [Entry]) {
        (self.number, self.head, self.events) = (number, head, events)
    }
}
