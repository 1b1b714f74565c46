package import AppProtocol
package import ClientCore
package import DeviceCore
package import Vocabulary

/// Something that must hold at every step, whatever happens. It knows what happened in the virtual
/// world (what ran, what was said, what the user did, what the sensors saw) and what the device put
/// on record or answers: claims, which it holds against the former. It never sees the device. It
/// says in words what is wrong, or nil.
package protocol Invariant: AnyObject {
    var name: String { get }
    /// A turn is over.
    func ended(_ turn: Turn, _ world: World) -> String?
    /// Nothing has reached the daemon for some seconds.
    func idled(_ world: World) -> String?
    /// A daemon begins.
    func restored(_ world: World) -> String?
    func rebooted()
}

/// One that looks at each effect.
package protocol EffectInvariant: Invariant {
    /// An effect is about to be performed.
    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String?
}

/// One that looks at each commit.
package protocol CommitInvariant: Invariant {
    func committed(_ changes: [Change]) -> String?
}

/// One that compares what callers ask for with what they are answered.
package protocol CallInvariant: Invariant {
    func asked(_ token: ReplyToken, _ event: Event, at now: Moment)
    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment)
}

/// One that looks at what programs do.
package protocol ProcessInvariant: Invariant {
    /// A program runs.
    func ran(_ process: VirtualProcess, _ world: World)
    /// This has reached a daemon.
    func heard(_ event: Event)
}

/// One that looks at what goes on in the libraries of linked apps.
package protocol ClientInvariant: Invariant {
    /// This is about to be told to the library's core.
    func took(_ event: ClientEvent, _ client: VirtualClient, _ world: World)
    /// This is about to be done for it.
    func performed(_ effect: ClientEffect, _ client: VirtualClient, _ world: World) -> String?
}

/// One that looks at what apps are told about themselves.
package protocol QuestionInvariant: Invariant {
    func told(_ answer: AppReply, to process: VirtualProcess, _ world: World) -> String?
}

/// One that asks the daemon why things wait, as a user would.
package protocol AnswerInvariant: Invariant {
    /// Nothing has reached the daemon for some seconds; `explain` answers as of a moment.
    func idled(
        _ world: World,
        _ explain: (AppID, Moment) -> [Explanation]
    ) -> String?
}

extension Invariant {
    package func ended(_ turn: Turn, _ world: World) -> String? { nil }
    package func idled(_ world: World) -> String? { nil }
    package func restored(_ world: World) -> String? { nil }
    package func rebooted() {}
}

extension ProcessInvariant {
    package func ran(_ process: VirtualProcess, _ world: World) {}
    package func heard(_ event: Event) {}
}

/// All of them, anew.
package enum Invariants {
    package static func all() -> [any Invariant] {
        [
            NeverEarly(), HandedOnce(), EndsConfirmed(), GrantsBounded(), WithinQuotas(),
            ReasonGiven(), NothingLost(), SuspendedSilent(), HeldForRuns(), OneLine(),
            HistoryTrue(), Caps(), OldestFirst(), TimerSane(), SlotsKept(), ExpiredOnce(),
            ClosedStaysClosed(), PausedStaysPaused(), NothingBeforeUnlock(), PromptStop(),
            RefreshBudgetKept(), NothingBegunAtTheEnd(), AsAskedFor(), AskedForIsThere(),
            HandlersOnce(), EndsTold(), CallersAnswered(), SidesAgree(), ToldOfItself(),
            SleepsAgain(), OneVersion(), TransfersHeld(), TransfersKept(), TaskEndsTold(),
            UploadedOnce(), PartsUsedOnce(), PartsRemoved(), MovedWhole(), QuestionsAnswered(),
            ConditionsTold(), IdleInhibited(), OpenedOnce(),
        ]
    }
}
