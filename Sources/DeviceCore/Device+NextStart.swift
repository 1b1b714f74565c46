package import Vocabulary

/// The app whose work may start next by time alone, and whether it may.
extension Device {
    /// A start that was looked at, and what ran then.
    struct NextStart: Hashable, Sendable, Codable {
        var app: Int
        var time: BootTime
        var running: Running
    }

    /// A gate may close after an app was looked at: another run takes the slot or uses up the
    /// quota of the device, or the user's day ends before. No timer is set for work that could
    /// not start, so whoever is next is looked at again. Returns what may start now.
    mutating func confirmNextStart(_ transition: inout Transition) -> [Candidate] {
        var ready: [Candidate] = []
        while ready.isEmpty, touched.isEmpty, let (index, time) = apps.nextStart {
            let next = NextStart(app: index, time: time, running: running)
            guard next != confirmedStart else { break }
            ready = evaluateRequests(of: index, &transition)
            let start = startTime(of: index, at: transition.now)
            apps.startsAt(start, index)
            if start == time { confirmedStart = next }
        }
        return ready
    }

    /// When work of an app may start, as far as that goes by time: at its date other gates may
    /// hold it than now.
    private func startTime(of index: Int, at now: Moment) -> BootTime {
        var time = apps.wait(of: index).start
        // Each round is a gate that closes meanwhile.
        for _ in 0..<8 where time != .distantFuture && time > now.boot {
            var context = gateContext(of: index, at: now.after(time - now.boot))
            var next = BootTime.distantFuture
            for request in apps[index].requests where apps[index].isWaiting(request) {
                let answer = context.holds(on: request.work(at: context.now.wall))
                if answer.isEmpty || context.needsALook(answer.gates) { return time }
                next = min(next, answer.next)
            }
            time = max(time, next)
        }
        return time
    }
}

extension Device {
    /// Whose work may start next by time alone; nil: nobody's.
    package var nextStartingApp: AppID? { apps.nextStart.map { apps[$0.0].id } }
}

extension GateContext {
    /// The load is read then, or the history says that the week rule holds it from then on.
    fileprivate func needsALook(_ gates: GateSet) -> Bool {
        gates == .deviceInUse && conditions[.idle].sensing == .unknown
            || gates.overlaps(.unused) && app.record.unusedSince == nil
    }
}

extension Moment {
    /// If the device does not sleep until then and nobody sets the clock.
    fileprivate func after(_ time: Interval) -> Moment {
        Moment(boot: boot + time, awake: awake + time, wall: wall + time, utcOffset: utcOffset)
    }
}
