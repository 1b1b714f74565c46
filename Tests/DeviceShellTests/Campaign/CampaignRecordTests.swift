import Testing
import Vocabulary

/// Each judgement of the campaign sees what it is there for: a lie is planted for each, beside what
/// is true and looks alike.
struct CampaignRecordTests {
    /// What is said and done by the second.
    private struct Story {
        var entries: [Ledger.Entry] = []
        var runs: [Run] = []
        var lines: [Value] = []
        var pid: Int32 = 100

        mutating func told(
            _ asked: Asked,
            _ from: Double,
            _ until: Double,
            _ answer: Answer = .done,
            attempts: Int = 1
        ) {
            let entry = Ledger.Entry(
                asked: asked,
                from: at(from),
                until: answer == .none ? .distantFuture : at(until),
                answer: answer,
                attempts: attempts
            )
            entries.append(entry)
        }

        /// `outcome`: its line; nil: there is none.
        mutating func ran(
            _ work: Work,
            _ made: Double,
            _ ended: Double? = nil,
            _ status: Int32? = 0,
            stopped: Bool = false,
            outcome: String? = "completed"
        ) {
            pid += 1
            runs.append(
                Run(
                    token: work.token,
                    pid: pid,
                    made: at(made),
                    began: at(made),
                    ended: ended.map(at),
                    status: ended == nil ? nil : status,
                    wasStopped: stopped
                )
            )
            if let outcome { line(work, outcome) }
        }

        mutating func line(_ work: Work, _ outcome: String) {
            lines.append(
                ["what": "run", "app": .string(work.app), "outcome": .string(outcome)]
            )
        }

        private func at(_ seconds: Double) -> BootTime {
            BootTime(nanoseconds: Int64(seconds * 1e9))
        }

        var record: CampaignRecord { CampaignRecord(entries: entries, runs: runs, lines: lines) }
    }

    private let work = Work(token: "a-1", name: "a", manner: .quick)
    private let next = Work(token: "a-2", name: "a", manner: .quick)

    private func story(_ write: (inout Story) -> Void) -> CampaignRecord {
        var story = Story()
        write(&story)
        return story.record
    }

    @Test func `what was acknowledged and never ran is lost, unless somebody took it back`() {
        let lost = story { $0.told(.submit(work), 1, 2) }
        #expect(lost.lost.count == 1)
        let cancelled = story {
            $0.told(.submit(work), 1, 2)
            $0.told(.cancel("a"), 3, 4)
        }
        #expect(cancelled.lost == [])
        // Two clients at once: either may have come last.
        let raced = story {
            $0.told(.submit(next), 1, 3)
            $0.told(.submit(work), 2, 4)
            $0.ran(work, 5, 6)
        }
        #expect(raced.lost == [])
        let earlier = story {
            $0.told(.cancel("a"), 1, 2)
            $0.told(.submit(work), 3, 4)
        }
        #expect(earlier.lost.count == 1)
        let refused = story { $0.told(.submit(work), 1, 2, .storage) }
        #expect(refused.lost == [])
    }

    @Test func `what was done and runs again is seen, but not what was asked to end`() {
        let twice = story {
            $0.told(.submit(work), 1, 2)
            $0.ran(work, 3, 4)
            $0.ran(work, 5, 6)
        }
        #expect(twice.repeated.count == 1)
        let asked = story {
            $0.told(.submit(work), 1, 2)
            $0.ran(work, 3, 4, 75)
            $0.ran(work, 5, 6)
        }
        #expect(asked.repeated == [])
        let paused = story {
            $0.told(.submit(work), 1, 2)
            $0.ran(work, 3)
            $0.told(.hold(.pause, nil), 3.5, 3.6)
            $0.ran(work, 5, 6)
        }
        #expect(paused.repeated == [])
        let pausedBefore = story {
            $0.told(.hold(.pause, nil), 1, 1.1)
            $0.told(.submit(work), 1, 2)
            $0.ran(work, 3, 4)
            $0.ran(work, 5, 6)
        }
        #expect(pausedBefore.repeated.count == 1)
    }

    @Test func `what is to run again does, unless nobody saw its end`() {
        for status: Int32? in [75, nil] {
            func over(_ outcome: String) -> CampaignRecord {
                story {
                    $0.told(.submit(work), 1, 2)
                    $0.ran(work, 3, status == nil ? nil : 4, status, outcome: outcome)
                }
            }
            #expect(over("retry").forgotten.count == 1)
            #expect(over("unknown").forgotten == [])
        }
        let cancelled = story {
            $0.told(.submit(work), 1, 2)
            $0.ran(work, 3, stopped: true)
            $0.told(.cancel("a"), 4, 5)
        }
        #expect(cancelled.forgotten == [])
    }

    @Test func `what was refused does not run`() {
        for attempts in 1...2 {
            let ran = story {
                $0.told(.submit(work), 1, 2, .storage, attempts: attempts)
                $0.ran(work, 3, 4)
            }
            #expect(ran.ranThoughRefused.count == 1)
        }
        let unanswered = story { $0.told(.submit(work), 1, 2, .none) }
        #expect(unanswered.unanswered.count == 1)
    }

    @Test func `nothing begins after its cancel, or after another took its place`() {
        func ran(_ time: Double, after end: Asked, _ answer: Answer = .done) -> CampaignRecord {
            story {
                $0.told(.submit(work), 1, 2)
                $0.told(end, 3, 4, answer)
                $0.ran(work, time, time + 1)
            }
        }
        #expect(ran(5, after: .cancel("a")).ranAfterCancel.count == 1)
        #expect(ran(5, after: .cancel("a"), .notFound).ranAfterCancel.count == 1)
        #expect(ran(3.5, after: .cancel("a")).ranAfterCancel == [])
        #expect(ran(5, after: .cancel("b")).ranAfterCancel == [])
        #expect(ran(5, after: .cancel("a"), .storage).ranAfterCancel == [])
        #expect(ran(5, after: .submit(next)).ranAfterReplacement.count == 1)
        #expect(ran(3.5, after: .submit(next)).ranAfterReplacement == [])
        #expect(ran(5, after: .submit(next), .storage).ranAfterReplacement == [])
    }

    @Test func `nothing begins before its time`() {
        var later = work
        later.after = .seconds(3)
        func ran(_ time: Double) -> CampaignRecord {
            story {
                $0.told(.submit(later), 1, 2)
                $0.ran(later, time, 9)
            }
        }
        #expect(ran(3.5).ranTooEarly.count == 1)
        #expect(ran(4).ranTooEarly == [])
    }

    @Test func `nothing begins against a hold that is known to be in force`() {
        var needy = work
        needy.needs = [.power]
        func ran(
            _ work: Work,
            _ time: Double,
            _ hold: Hold = .power,
            _ span: Interval? = nil,
            userInitiated: Bool = false
        ) -> [String] {
            story {
                $0.told(work.isStanding ? .publish(work) : .submit(work), 1, 2)
                $0.told(.hold(hold, span), 3, 4)
                if userInitiated { $0.told(.run(app: work.app), 4, 5) }
                $0.told(.release(hold), 8, 9)
                $0.ran(work, time, time + 1)
            }.ranAgainstHold
        }
        #expect(ran(needy, 5).count == 1)
        #expect(ran(work, 5) == [])
        #expect(ran(needy, 3.5) == [])
        #expect(ran(needy, 8.5) == [])
        #expect(ran(work, 5, .pause).count == 1)
        #expect(ran(work, 5, .pause, .seconds(4)).count == 1)
        #expect(ran(work, 7.5, .pause, .seconds(4)) == [])
        var processing = work
        processing.isProcessing = true
        #expect(ran(processing, 5, .idle).count == 1)
        #expect(ran(processing, 5, .idle, userInitiated: true) == [])
        #expect(ran(processing, 5, .pause, userInitiated: true).count == 1)
        var probed = needy
        (probed.needs, probed.isStanding, probed.probe) = ([.network], true, .answers)
        #expect(ran(probed, 5, .network) == [])
        #expect(ran(probed, 5, .pause).count == 1)
        probed.isProcessing = true
        #expect(ran(probed, 5, .network).count == 1)
    }

    @Test func `what is to stand still does`() {
        var frozen = work
        (frozen.isStanding, frozen.isProcessing, frozen.freezes) = (true, true, true)
        func ticked(_ time: Double, _ hold: Hold, freezes: Bool = true) -> [String] {
            frozen.freezes = freezes
            return story {
                $0.told(.publish(frozen), 1, 2)
                $0.ran(frozen, 2, 20)
                $0.runs[0].ticks = [BootTime(nanoseconds: Int64(time * 1e9))]
                $0.told(.hold(hold, nil), 3, 4)
                $0.told(.release(hold), 8, 9)
            }.movedAgainstHold
        }
        #expect(ticked(6, .pause).count == 1)
        #expect(ticked(6, .idle).count == 1)
        #expect(ticked(6, .power) == [])
        #expect(ticked(4.5, .pause) == [])
        #expect(ticked(8.5, .pause) == [])
        #expect(ticked(6, .pause, freezes: false) == [])
    }

    @Test func `nothing runs of a manifest that is gone or another`() {
        var first = work
        first.isStanding = true
        var second = next
        second.isStanding = true
        for change in [Asked.withdraw(name: "a"), .publish(second)] {
            func ran(_ time: Double) -> CampaignRecord {
                story {
                    $0.told(.publish(first), 1, 2)
                    $0.told(change, 3, 4)
                    $0.ran(first, time, time + 1)
                }
            }
            #expect(ran(2.5).ranWithoutManifest == [])
            #expect(ran(5).ranWithoutManifest.count == 1)
        }
    }

    @Test func `two of one name at once are seen, and more than there are slots`() {
        let doubled = story {
            $0.told(.submit(work), 1, 2)
            $0.ran(work, 3, 5, 75)
            $0.ran(work, 4, 6)
        }
        #expect(doubled.doubled.count == 1)
        func crowd(_ count: Int) -> CampaignRecord {
            story {
                for number in 0..<count {
                    let one = Work(token: "\(number)", name: "n\(number)", manner: .quick)
                    $0.told(.submit(one), 1, 2)
                    $0.ran(one, 3, 4)
                }
            }
        }
        #expect(crowd(CampaignSettings.mostRuns).crowded == [])
        #expect(crowd(CampaignSettings.mostRuns + 1).crowded.count == 1)
        #expect(crowd(2).doubled == [])
    }

    @Test func `each start has one line, and each line a start`() {
        let unlined = story {
            $0.told(.submit(work), 1, 2)
            $0.ran(work, 3, 4, outcome: nil)
        }
        #expect(unlined.unlined.count == 1)
        #expect(unlined.startless == [])
        for (outcome, count) in [("completed", 1), ("unknown", 1), ("expired", 0)] {
            let startless = story {
                $0.told(.submit(work), 1, 2)
                $0.line(work, outcome)
            }
            #expect(startless.startless.count == count, "\(outcome)")
            #expect(startless.unlined == [])
        }
        let failed = story { $0.line(work, "not-started") }
        #expect(failed.notStarted.count == 1)
        let userInitiated = story {
            $0.told(.submit(work), 1, 2)
            $0.told(.run(app: work.app), 3, 4)
        }
        #expect(userInitiated.userInitiatedWithoutLine.count == 1)
    }

    @Test func `a journal is read as it was written`() {
        let journal = """
            b w-1 12 100 1.25
            e w-1 12 100 1.50 75
            b w-1 13 200 2.00
            t w-1 13 200 2.10
            b w-2 12 300 3.00
            e w-2 12 300 3.10 0
            e w-2 12 300 3.20 0
            x

            """
        let (runs, odd) = Run.read(journal)
        #expect(runs.map(\.token) == ["w-1", "w-1", "w-2"])
        #expect(runs.map(\.status) == [75, nil, 0])
        #expect(runs.map(\.wasStopped) == [false, true, false])
        #expect(runs[0].made == BootTime(nanoseconds: 0) + Run.tick * 100)
        #expect(runs[0].began == BootTime(nanoseconds: 1_250_000_000))
        #expect(runs[0].ended == BootTime(nanoseconds: 1_500_000_000))
        #expect(odd == ["e w-2 12 300 3.20 0", "x"])
    }
}
