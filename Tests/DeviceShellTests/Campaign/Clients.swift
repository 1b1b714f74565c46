import Linux
import TestKit
import Vocabulary

/// What a client of the campaign does, step by step, until it is over; then it brings what it began
/// to an end.
protocol CampaignClient: SendableMetatype {
    var caller: Caller { get }
    mutating func step() throws
    mutating func finish() throws
}

extension CampaignClient {
    /// So much between two starts of the daemon that the work does not pile up.
    mutating func live() throws {
        while try caller.rest() {
            var budget = 2 + caller.random.below(14)
            while budget > 0, !caller.isOver {
                try step()
                budget -= 1
            }
        }
        try finish()
    }
}

/// Submits, cancels, replaces, wants things now.
struct Worker: CampaignClient {
    let caller: Caller
    let name: String
    /// Ways in which its commands behave.
    let manners: [Manner]
    private var count = 0
    /// What it asked for last.
    private var recent: [Work] = []
    /// What ends only by its word.
    private var endless: [Work] = []

    init(_ caller: Caller, name: String, manners: [Manner]) {
        (self.caller, self.name, self.manners) = (caller, name, manners)
    }

    mutating func step() throws {
        switch caller.random.below(16) {
        case 0...6: try submit(new())
        case 7...9: try submit(new(named: slot()))
        case 10: try submit(endlessOne())
        case 11: try cancelRecent()
        case 12: try cancelEndless()
        case 13: try runRecent()
        case 14: try caller.ask(nil, "Tasks", "")
        default: try caller.ask(nil, "History", ["limit": .integer(20)])
        }
    }

    mutating func finish() throws {
        while !endless.isEmpty { try cancelEndless() }
    }

    /// A name that is used again: one of its own, or one that all share.
    private func slot() -> String {
        caller.chance(1, in: 3) ? "shared\(caller.random.below(2))" : "\(name)-slot"
    }

    private mutating func new(named slot: String? = nil) -> Work {
        count += 1
        let token = "\(name)-\(count)"
        var work = Work(token: token, name: slot ?? token, manner: caller.any(of: manners))
        work.isProcessing = caller.chance(1, in: 4)
        if work.isProcessing {
            if caller.chance(1, in: 20) { work.manner = .slow }
            if caller.chance(1, in: 3) { work.needs.insert(.power) }
        }
        if caller.chance(1, in: 6) { work.needs.insert(.network) }
        if caller.chance(1, in: 8) { work.needs.insert(.metered) }
        if caller.chance(1, in: 8) { work.after = .milliseconds(caller.random.below(800)) }
        return work
    }

    private mutating func endlessOne() -> Work {
        var work = new()
        work.manner = caller.chance(1, in: 3) ? .stubborn : .long
        work.isProcessing = false
        work.needs.remove(.power)
        return work
    }

    private mutating func submit(_ work: Work) throws {
        // Two at most: they take the place of others.
        if work.manner.isEndless, endless.count >= 2 { try cancelEndless() }
        guard try caller.submit(work) == .done else { return }
        if work.manner.isEndless { endless.append(work) }
        recent.append(work)
        if recent.count > 8 { recent.removeFirst() }
    }

    private mutating func cancelRecent() throws {
        guard !recent.isEmpty else { return }
        let work = caller.any(of: recent)
        endless.removeAll { $0.name == work.name }
        try caller.insist { try caller.cancel(work) }
    }

    private mutating func cancelEndless() throws {
        guard !endless.isEmpty else { return }
        let work = endless.removeFirst()
        try caller.insist { try caller.cancel(work) }
    }

    private mutating func runRecent() throws {
        guard !recent.isEmpty else { return }
        let work = caller.any(of: recent)
        try caller.ask(.run(app: work.app), "Run", .string(work.app), [:])
    }
}

/// Pauses, plays sensors, changes settings: one at a time, so that what holds is known.
struct DeviceUser: CampaignClient {
    let caller: Caller
    private var held: [Hold] = []

    init(_ caller: Caller) { self.caller = caller }

    mutating func step() throws {
        switch caller.random.below(10) {
        case 0...2: try hold(caller.any(of: Hold.allCases))
        case 3...6: try release()
        case 7: try set("run-slots", "\(1 + caller.random.below(CampaignSettings.mostRuns))")
        case 8: try set("processing-grant-charging", caller.chance(1, in: 2) ? "14s" : "15s")
        default: try caller.ask(nil, "Status")
        }
    }

    mutating func finish() throws {
        while !held.isEmpty { try release() }
        try set("run-slots", "\(CampaignSettings.mostRuns)")
    }

    private mutating func hold(_ hold: Hold) throws {
        held.removeAll { $0 == hold }
        held.append(hold)
        if hold == .pause, caller.chance(1, in: 2) {
            let time = Interval.milliseconds(Int64(50 + caller.random.below(400)))
            try caller.ask(.hold(.pause, time), "Pause", ["seconds": .double(time.seconds)])
        } else {
            try say(.hold(hold, nil), hold.word(holds: true, caller.chance(1, in: 3)))
        }
    }

    private mutating func release() throws {
        guard !held.isEmpty else { return }
        let hold = held.remove(at: caller.random.below(held.count))
        try caller.insist { try say(.release(hold), hold.word(holds: false)) }
    }

    @discardableResult
    private func say(_ asked: Asked, _ word: (name: String, value: String)) throws -> Answer {
        if word.name == Hold.pause.rawValue {
            return try caller.ask(asked, word.value == "on" ? "Pause" : "Continue", [:])
        }
        return try caller.ask(asked, "Set", .string(word.name), .string(word.value), [:])
    }

    private func set(_ name: String, _ value: String) throws {
        try caller.ask(.setting(name), "Set", .string(name), .string(value), [:])
    }
}

extension Hold {
    /// What is said so that it holds, or does not any more.
    func word(holds: Bool, _ otherwise: Bool = false) -> (name: String, value: String) {
        switch self {
        case .pause: (rawValue, holds ? "on" : "off")
        case .refreshOff: ("background-refresh", holds ? "off" : "on")
        case .locked: ("locked", holds ? "before-first-unlock" : "off")
        case .power: ("power", holds ? "off" : "on")
        case .network: ("network", holds ? (otherwise ? "portal" : "off") : "on")
        case .metered: ("metered", holds ? "on" : "off")
        case .idle: ("idle", holds ? "off" : "on")
        }
    }

    /// Whether it stops this work when it runs.
    func stops(_ work: Work) -> Bool {
        switch self {
        case .pause: true
        case .refreshOff, .locked: false
        // A refresh of a manifest that has begun goes on.
        case .power, .network, .metered:
            work.needs.contains(self) && (work.isProcessing || !work.isStanding)
        case .idle: work.isProcessing
        }
    }

    /// Whether this is work that it keeps back.
    func keepsBack(_ work: Work) -> Bool {
        switch self {
        case .pause, .refreshOff, .locked: true
        case .power, .network, .metered: work.needs.contains(self)
        case .idle: work.isProcessing
        }
    }
}

/// Writes, changes and removes manifests.
struct Packager: CampaignClient {
    let caller: Caller
    private let names = ["pack-a", "pack-b"]
    private let manners: [Manner] = [.quick, .quick, .busy, .fails, .forks, .ignores]
    private var count = 0
    private var published: [String: Work] = [:]

    init(_ caller: Caller) { self.caller = caller }

    mutating func step() throws {
        let name = caller.any(of: names)
        switch (caller.random.below(8), published[name]) {
        case (0...2, _), (_, nil): try publish(name)
        case (3, _): try withdraw(name)
        case (4...6, let work?):
            try caller.ask(.run(app: work.app), "Run", .string(work.app), [:])
        default: try caller.ask(nil, "Explain", .string(name), [:])
        }
    }

    mutating func finish() throws {
        for name in names { try withdraw(name) }
    }

    private func path(_ name: String) -> String {
        caller.place.scratch + "/data/applications/\(name).desktop"
    }

    private mutating func publish(_ name: String) throws {
        count += 1
        var work = Work(token: "\(name)-\(count)", name: name, manner: caller.any(of: manners))
        work.isStanding = true
        work.isProcessing = caller.chance(1, in: 3)
        if work.isProcessing, caller.chance(1, in: 2) { work.needs.insert(.power) }
        if caller.chance(1, in: 4) { work.needs.insert(.network) }
        if work.isProcessing, caller.chance(1, in: 2) {
            (work.freezes, work.manner) = (true, .ticks)
        }
        if name == names.last, caller.chance(1, in: 2) {
            work.probe = caller.chance(1, in: 2) ? .hangs : .answers
        }
        published[name] = work
        let text = Self.manifest(of: work)
        try caller.insist {
            try Files.replace(path(name), with: text, permissions: 0o644)
            return try caller.ask(.publish(work), "Reload")
        }
    }

    private mutating func withdraw(_ name: String) throws {
        published[name] = nil
        try caller.insist {
            try? Files.remove(path(name))
            return try caller.ask(.withdraw(name: name), "Reload")
        }
    }

    private static func manifest(of work: Work) -> String {
        let command = Job.command(work.manner, work.token).joined(separator: " ")
        let network = work.needs.contains(.network)
        var keys: [String]
        if work.isProcessing {
            let needs = (work.needs.contains(.power) ? "power;" : "") + (network ? "network;" : "")
            keys =
                [
                    "BackgroundModes=processing;", "ProcessingCommand=\(command)",
                    "ProcessingInterval=1s",
                ] + (needs.isEmpty ? [] : ["ProcessingNeeds=" + needs])
        } else {
            keys = [
                "BackgroundModes=fetch;", "RefreshCommand=\(command)", "RefreshInterval=1s",
                "NeedsNetwork=\(network)",
            ]
        }
        if work.freezes { keys.append("WhenInterrupted=freeze") }
        if let probe = work.probe {
            keys.append("NewDataFrom=command:sh \(Job.probeName) \(probe.rawValue)")
        }
        return """
            [Desktop Entry]
            Type=Application
            Name=\(work.name)
            Exec=true

            [X-Offstage]
            \(keys.joined(separator: "\n"))

            """
    }
}
