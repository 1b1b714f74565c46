package import Vocabulary

/// What is expected of one app, told when somebody asks: the same chances, price, budget and search
/// that its refreshes are decided by.
package struct RefreshForecast: Hashable, Sendable, Codable {
    /// That it is opened within half an hour from the next decision, in thousandths.
    package var chance: Int64
    /// From which chance on a refresh is worth it then, in thousandths.
    package var price: Int64
    /// Refreshes left today, and how many there are for a day: fewer for what is of little use.
    package var left: Int64
    package var budget: Int64
    package var scope: RefreshBudgetScope
    /// What stands against it at the next decision; nil: nothing.
    package var blocker: RefreshBlocker?
    /// Within half an hour from when it is opened most likely in the next 24 hours, and how likely.
    package var likelyAt: WallTime
    package var likelyChance: Int64
    /// When it is refreshed if nothing happens until then; nil: not within 24 hours after it may
    /// begin, or not within an hour while the device is in use.
    package var expectedAt: WallTime?
}

/// A refresh that somebody asks about.
struct AskedRefresh {
    let index: Int
    /// Nothing chooses its moment before.
    let notBefore: WallTime
}

extension Device {
    /// Nil: its moments are not chosen by what was learned.
    func forecast(of request: Request, _ index: Int, at now: Moment) -> RefreshForecast? {
        guard apps[index].isPlanned, apps[index].isLearned else { return nil }
        let facts = refreshFacts(at: now)
        let asked = AskedRefresh(index: index, notBefore: facts.notBefore(of: request, index))
        // The search stores what it finds on the way.
        var policy = refreshPolicy
        return policy.forecast(asked, facts)
    }
}

extension RefreshPolicy {
    fileprivate mutating func forecast(_ asked: AskedRefresh, _ facts: RefreshFacts)
        -> RefreshForecast?
    {
        _ = findMembers(in: facts.apps)
        findCandidates(and: asked, facts)
        guard let candidate = search.candidates.firstIndex(where: { $0.index == asked.index })
        else { return nil }
        // What something else holds takes no part in it.
        let isHeld = facts.refreshDueAt(asked.index) != asked.notBefore
        let next = isHeld ? nil : nextDecision(after: facts.now.wall)
        let grid = facts.gridTime(after: facts.now.wall)
        var first = facts.local(min(grid, next ?? grid))
        var verdict = verdictAhead(on: candidate, at: first, facts)
        if verdict.blocker == nil, let next, next > first.wall {
            // The search has passed over it.
            first = facts.local(next)
            verdict = verdictAhead(on: candidate, at: first, facts)
        }
        let discount = use.isInUse ? verdict.discount : 0
        var forecast = RefreshForecast(
            chance: 0,
            price: facts.chanceWanted(of: asked.index, at: verdict.candidate.price - discount),
            left: max(0, verdict.candidate.left),
            budget: budget.perDay(of: asked.index, facts),
            scope: facts.settings.budgetScope,
            blocker: verdict.blocker,
            likelyAt: first.wall,
            likelyChance: 0,
            expectedAt: verdict.blocker == nil
                ? first.wall
                : expected(
                    candidate,
                    notBefore: asked.notBefore,
                    from: next ?? first.wall,
                    until: use.isInUse ? first.wall + Self.inUse : nil,
                    facts
                )
        )
        for step in 0..<Int64(DayGrid.binCount) {
            let time = facts.local(first.wall + Self.bin * step)
            let chance = facts.chance(of: asked.index, PredictionContext(use, at: time))
            let thousandths = Int64((chance * 1000).rounded())
            if step == 0 { forecast.chance = thousandths }
            if thousandths > forecast.likelyChance {
                (forecast.likelyAt, forecast.likelyChance) = (time.wall, thousandths)
            }
        }
        return forecast
    }

    /// From the next decision on, in the 24 hours after it may begin. While the device is in use
    /// nobody knows for longer than an hour.
    private mutating func expected(
        _ candidate: Int,
        notBefore: WallTime,
        from next: WallTime,
        until end: WallTime?,
        _ facts: RefreshFacts
    ) -> WallTime? {
        guard notBefore < next + .days(28) else { return nil }
        if refreshes(candidate, at: next, facts) { return next }
        let begin = facts.gridTime(after: max(next, notBefore))
        return firstRefresh(of: candidate, from: begin, until: end ?? begin + .days(1), facts)
    }
}

extension RefreshForecast {
    /// Completes "NAME waits: …".
    func sentence(at now: Moment) -> String {
        let likely =
            "you are most likely to open it \(now.text(for: likelyAt, toSecond: false)) or in the "
            + "half-hour after (\(Self.percent(likelyChance))), now \(Self.percent(chance))"
        let whose = scope == .app ? "for it" : "for all apps"
        let refreshes = "\(budget) refresh\(budget == 1 ? "" : "es") \(whose)"
        let remaining = "with \(left) of \(budget) left \(whose) today"
        let worth =
            "a refresh is worth it "
            + (price > 0 ? "from \(Self.percent(price)) on" : "at any chance")
        let use =
            expectedAt == nil
            ? "using the device, or apps that it follows, changes that"
            : "using the device, or apps that it follows, may bring that forward"
        // What stands against it, and what changes that.
        return switch blocker {
        case nil: "\(likely); that is worth a refresh at the next decision, \(remaining)"
        case .price: "\(likely); \(worth), \(remaining); \(use)"
        case .wake: "\(likely); \(worth), but not waking the device for it, \(remaining); \(use)"
        case .nobody: "\(likely); nobody is expected to use the device soon, \(remaining); \(use)"
        case .fresh:
            "it was used or refreshed a moment ago, and is fresh for half an hour; \(likely); "
                + "\(worth), \(remaining)"
        case .early:
            "\(likely); it is not due before its date, its quiet period or a retry, \(remaining)"
        case .budget:
            "nothing is left of today's \(refreshes); \(likely); the next day brings new ones"
        case .share:
            "it has had as many of today's \(refreshes) as one app may; \(likely); the next day "
                + "brings new ones"
        }
    }

    /// What the gate sees, and what it needs.
    var explanation: (value: String, needed: String) {
        let chance = Self.percent(chance)
        return switch blocker {
        case nil, .price: (chance, "\(Self.percent(price)) or more")
        case .wake: (chance, "enough to wake the device")
        case .nobody: ("nobody is expected", "use of the device soon")
        case .budget, .share: ("0 of \(budget) left", "1 or more")
        case .early: ("not due yet", "its date, quiet period or retry")
        case .fresh: ("used or refreshed a moment ago", "half an hour without")
        }
    }

    static func percent(_ thousandths: Int64) -> String {
        thousandths >= 100 || thousandths % 10 == 0
            ? "\((thousandths + 5) / 10) %" : "\(thousandths / 10).\(thousandths % 10) %"
    }
}
