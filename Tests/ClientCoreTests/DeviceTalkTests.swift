import AppProtocol
import ClientCore
import Testing
import Vocabulary

/// What the library asks each daemon of the device, and tells it of the screen.
struct DeviceTalkTests {
    var client = Client(ticks: 3)

    private mutating func take(_ event: ClientEvent) -> [ClientEffect] {
        var effects: [ClientEffect] = []
        client.take(event, into: &effects)
        return effects
    }

    private func sent(_ effects: [ClientEffect]) -> [(number: CallNumber, call: App1)] {
        effects.compactMap {
            if case .send(let number, let call) = $0 { (number, call) } else { nil }
        }
    }

    /// The questions about the device among what was sent.
    private func watches(_ effects: [ClientEffect]) -> [CallNumber] {
        sent(effects).compactMap {
            if case .watchConditions = $0.call { $0.number } else { nil }
        }
    }

    private func hellos(_ effects: [ClientEffect]) -> [CallNumber] {
        sent(effects).compactMap { if case .hello = $0.call { $0.number } else { nil } }
    }

    /// What was said of the idle timer.
    private func idleTimers(_ effects: [ClientEffect]) -> [(number: CallNumber, isDisabled: Bool)] {
        sent(effects).compactMap {
            if case .setIdleTimer(let call) = $0.call { ($0.number, call.isDisabled) } else { nil }
        }
    }

    private static let greeting = Result<AppReply, CallError>.success(
        .greeting(
            Greeting(
                app: AppID("app"),
                launch: LaunchID(1),
                state: .foreground,
                backgroundRefresh: .available
            )
        )
    )
    private static let full = Result<AppReply, CallError>.failure(
        CallError(.refused(.storage), "the disk is full")
    )
    private static let old = Result<AppReply, CallError>.failure(
        CallError(unsupported: "no such method")
    )
    private static let known: DeviceConditions = {
        var conditions = DeviceConditions()
        conditions.battery = 62
        return conditions
    }()
    private static let answer = Result<AppReply, CallError>.success(.conditions(known))

    private static func answered(_ token: UInt64, _ answer: Result<AppReply, CallError>)
        -> ClientEffect
    { .answer(CallerToken(token), answer) }

    /// Connected and greeted, as an app.
    private mutating func launch() throws {
        _ = take(.greet(CallerToken(1)))
        let hello = try #require(hellos(take(.connected)).first)
        #expect(watches(take(.answered(hello, Self.greeting))) == [], "nobody has looked")
    }

    /// The connection is lost, and there is another, which says hello; the number of that.
    private mutating func reconnect() throws -> CallNumber {
        #expect(take(.disconnected).last == .watch)
        #expect(take(.look) == [.connect])
        let effects = take(.connected)
        #expect(watches(effects) == [], "first hello")
        return try #require(hellos(effects).first)
    }

    // MARK: The conditions

    @Test mutating func `an older daemon is asked once, and so is the next one`() throws {
        try launch()
        let watch = watches(take(.lookAtDevice(CallerToken(2))))
        try #require(watch.count == 1)
        #expect(take(.answered(watch[0], Self.old)) == [Self.answered(2, Self.old)])
        #expect(take(.lookAtDevice(CallerToken(3))) == [Self.answered(3, Self.old)])
        #expect(sent(take(.tick)).isEmpty)
        let hello = try reconnect()
        let again = watches(take(.answered(hello, Self.greeting)))
        try #require(again.count == 1, "the next one may be newer")
        #expect(take(.answered(again[0], Self.old)) == [])
        #expect(take(.lookAtDevice(CallerToken(4))) == [Self.answered(4, Self.old)])
    }

    @Test mutating func `an older daemon that was asked before hello is not asked after it`()
        throws
    {
        _ = take(.lookAtDevice(CallerToken(2)))
        let watch = try #require(watches(take(.connected)).first)
        _ = take(.answered(watch, Self.old))
        let hello = try #require(hellos(take(.greet(CallerToken(1)))).first)
        #expect(watches(take(.answered(hello, Self.greeting))) == [])
    }

    @Test mutating func `a daemon whose disk is full is asked again with each tick`() throws {
        try launch()
        var watch = watches(take(.lookAtDevice(CallerToken(2))))
        try #require(watch.count == 1)
        #expect(take(.answered(watch[0], Self.full)) == [Self.answered(2, Self.full)])
        for _ in 0..<2 {
            watch = watches(take(.tick))
            try #require(watch.count == 1)
            #expect(take(.answered(watch[0], Self.full)) == [.armTicker])
        }
        watch = watches(take(.tick))
        try #require(watch.count == 1)
        let news = take(.answered(watch[0], Self.answer))
        #expect(news == [.conditions(Self.known, isTold: true)])
        #expect(take(.tick) == [])
    }

    @Test mutating func `a process that has not said hello asks when it looks, and not else`()
        throws
    {
        _ = take(.lookAtDevice(CallerToken(2)))
        let watch = try #require(watches(take(.connected)).first)
        #expect(take(.answered(watch, Self.full)) == [Self.answered(2, Self.full)])
        #expect(take(.tick) == [])
        let again = try #require(watches(take(.lookAtDevice(CallerToken(3)))).first)
        #expect(
            take(.answered(again, Self.answer))
                == [.conditions(Self.known, isTold: false), Self.answered(3, Self.answer)]
        )
        #expect(watches(take(.lookAtDevice(CallerToken(4)))).count == 1, "it is not told")
    }

    @Test mutating func `who looks while a question is on its way waits for the same answer`()
        throws
    {
        try launch()
        let watch = watches(take(.lookAtDevice(CallerToken(2))))
        try #require(watch.count == 1)
        #expect(sent(take(.lookAtDevice(CallerToken(3)))).isEmpty)
        #expect(
            take(.answered(watch[0], Self.answer)) == [
                .conditions(Self.known, isTold: true), Self.answered(2, Self.answer),
                Self.answered(3, Self.answer),
            ]
        )
    }

    @Test mutating func `who looks before hello is answered waits for one question after it`()
        throws
    {
        _ = take(.greet(CallerToken(1)))
        _ = take(.lookAtDevice(CallerToken(2)))
        let connected = take(.connected)
        #expect(watches(connected) == [])
        #expect(watches(take(.lookAtDevice(CallerToken(3)))) == [])
        let hello = try #require(hellos(connected).first)
        let watch = watches(take(.answered(hello, Self.greeting)))
        try #require(watch.count == 1)
        #expect(
            take(.answered(watch[0], Self.answer)) == [
                .conditions(Self.known, isTold: true), Self.answered(2, Self.answer),
                Self.answered(3, Self.answer),
            ]
        )
    }

    @Test mutating func `a daemon that does not know the app is asked all the same`() throws {
        _ = take(.greet(CallerToken(1)))
        _ = take(.lookAtDevice(CallerToken(2)))
        let hello = try #require(hellos(take(.connected)).first)
        let no = CallError(.refused(.notPermitted), "no such app")
        let watch = watches(take(.answered(hello, .failure(no))))
        try #require(watch.count == 1)
        #expect(
            take(.answered(watch[0], Self.answer))
                == [.conditions(Self.known, isTold: false), Self.answered(2, Self.answer)]
        )
    }

    @Test mutating func `each daemon is asked after hello, though nobody looks again`() throws {
        try launch()
        let first = try #require(watches(take(.lookAtDevice(CallerToken(2)))).first)
        _ = take(.answered(first, Self.answer))
        for _ in 0..<2 {
            let hello = try reconnect()
            let watch = watches(take(.answered(hello, Self.greeting)))
            try #require(watch.count == 1)
            #expect(
                take(.answered(watch[0], Self.answer))
                    == [.conditions(Self.known, isTold: true)]
            )
        }
    }

    @Test(arguments: [false, true])
    mutating func `who looks when the connection is lost is answered`(
        isGreeted: Bool
    ) throws {
        if isGreeted {
            try launch()
        } else {
            _ = take(.greet(CallerToken(1)))
            _ = take(.connected)
        }
        _ = take(.lookAtDevice(CallerToken(2)))
        let lost = Result<AppReply, CallError>.failure(.lost)
        #expect(take(.disconnected).filter { $0 == Self.answered(2, lost) }.count == 1)
        // By the next one nobody is answered who was answered.
        _ = take(.look)
        let hello = try #require(hellos(take(.connected)).first)
        let watch = try #require(watches(take(.answered(hello, Self.greeting))).first)
        #expect(
            take(.answered(watch, Self.answer)) == [.conditions(Self.known, isTold: true)]
        )
    }

    @Test mutating func `without a daemon, and after the end, who looks is answered`() {
        #expect(take(.lookAtDevice(CallerToken(2))).last == .connect)
        let error = CallError(.unreachable, "nobody")
        #expect(
            take(.notConnected(error)) == [.unreachable, Self.answered(2, .failure(error))]
        )
        _ = take(.stop)
        #expect(
            take(.lookAtDevice(CallerToken(3))) == [Self.answered(3, .failure(.stopped))]
        )
    }

    @Test mutating func `a daemon that says nothing is waited for so long, and heard later`()
        throws
    {
        try launch()
        let watch = watches(take(.lookAtDevice(CallerToken(2))))
        try #require(watch.count == 1)
        #expect(take(.tick) == [.armTicker])
        #expect(take(.tick) == [.armTicker])
        guard case .answer(CallerToken(2), .failure(let error))? = take(.tick).first else {
            Issue.record("it is still waited for")
            return
        }
        #expect(error.reason == .timedOut)
        // The question is on its way still: there is no second one.
        #expect(sent(take(.lookAtDevice(CallerToken(3)))).isEmpty)
        #expect(
            take(.answered(watch[0], Self.answer))
                == [.conditions(Self.known, isTold: true), Self.answered(3, Self.answer)]
        )
    }

    // MARK: The screen

    @Test mutating func `of the idle timer only the last word is told, one at a time`() throws {
        try launch()
        let first = idleTimers(take(.setIdleTimer(disabled: true)))
        try #require(first.map(\.isDisabled) == [true])
        #expect(sent(take(.setIdleTimer(disabled: false))).isEmpty)
        #expect(sent(take(.setIdleTimer(disabled: true))).isEmpty)
        #expect(sent(take(.setIdleTimer(disabled: false))).isEmpty)
        let second = idleTimers(take(.answered(first[0].number, .success(.nothing))))
        try #require(second.map(\.isDisabled) == [false])
        #expect(take(.answered(second[0].number, .success(.nothing))) == [])
        #expect(take(.setIdleTimer(disabled: false)) == [], "it is known")
    }

    @Test mutating func `an older daemon is told of the idle timer once`() throws {
        try launch()
        let told = idleTimers(take(.setIdleTimer(disabled: true)))
        try #require(told.count == 1)
        #expect(take(.answered(told[0].number, Self.old)) == [])
        #expect(take(.setIdleTimer(disabled: true)) == [])
        #expect(take(.tick) == [])
    }

    @Test mutating func `what is taken back while the disk is full wants no more ticks`()
        throws
    {
        try launch()
        _ = take(.tick)
        let told = idleTimers(take(.setIdleTimer(disabled: true)))
        try #require(told.count == 1)
        #expect(take(.answered(told[0].number, Self.full)) == [.armTicker])
        #expect(take(.setIdleTimer(disabled: false)) == [])
        #expect(take(.tick) == [], "the app sleeps")
    }

    @Test mutating func `before hello nothing is said of the idle timer`() throws {
        _ = take(.greet(CallerToken(1)))
        let hello = try #require(hellos(take(.connected)).first)
        #expect(take(.setIdleTimer(disabled: true)) == [])
        let told = idleTimers(take(.answered(hello, Self.greeting)))
        #expect(told.map(\.isDisabled) == [true])
    }
}
