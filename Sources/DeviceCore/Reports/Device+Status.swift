package import Vocabulary

/// What stands on one screen.
extension Device {
    /// `rows`: at most so many of each list. A row of what waits or fails is explained, which takes
    /// longer than all the rest; what is left out is only counted.
    package func status(at now: Moment, rows: Int = .max) -> Report.Status {
        let reporter = Reporter(now: now)
        return Report.Status {
            $0.now = Report.Time(now.wall, utcOffset: now.utcOffset)
            $0.paused = pauseReport(reporter)
            $0.invalid = invalidManifests
            for index in usedIndices {
                let app = apps[index]
                $0.requests += Int64(app.requests.count)
                if tellsFailures(of: app, at: now.wall) {
                    add(
                        failing(index, reporter),
                        to: &$0.failing,
                        upTo: rows,
                        orTo: &$0.moreFailing
                    )
                }
                for launch in app.launches {
                    add(
                        self.launch(launch, of: app, reporter),
                        to: &$0.running,
                        upTo: rows,
                        orTo: &$0.moreRunning
                    )
                }
            }
            for work in waitingWork(at: now) {
                add(
                    task(apps[work.app].requests[work.request], work.app, reporter),
                    to: &$0.waiting,
                    upTo: rows,
                    orTo: &$0.moreWaiting
                )
            }
            $0.conditions = conditionsReport(at: now)
            $0.apps = Int64(listed.count)
            $0.today = reporter.spent(ledger)
            $0.transfers = transferCounts
        }
    }

    private func add<Row>(
        _ row: @autoclosure () -> Row,
        to list: inout [Row],
        upTo limit: Int,
        orTo more: inout Int64?
    ) {
        if list.count < limit { list.append(row()) } else { more = (more ?? 0) + 1 }
    }

    /// Its tasks are explained for it: what is tried again is one of them.
    private func failing(_ index: Int, _ reporter: Reporter) -> Report.FailingApp {
        let app = apps[index]
        var failures = app.record.failures
        // Nobody tries again what was asked for once.
        if app.requests.isEmpty { failures.until = nil }
        let waiting = app.requests.filter { app.isWaiting($0) }.map { task($0, index, reporter) }
        return Report.FailingApp {
            ($0.app, $0.name) = (app.id, app.displayName)
            $0.failures = reporter.failures(failures) ?? Report.Failures()
            $0.next = waiting.compactMap(\.next).min {
                $0.wall ?? .distantFuture < $1.wall ?? .distantFuture
            }
            if waiting.count < app.requests.count {
                $0.again = Word(FailureRetry.running)
            } else if !waiting.isEmpty {
                $0.again = Word(FailureRetry.waiting)
            }
        }
    }

    // MARK: The order

    /// A request that waits, and when it may be its turn.
    private struct WaitingWork {
        var app: Int
        var request: Int
        var due: Due
    }

    /// What is soon due stands first, then what waits for no time: for it anything may happen at
    /// any moment. What is due later stands behind.
    private enum Due: Comparable {
        case soon(BootTime)
        case sometime
        case later(BootTime)
    }

    private static let soon = Interval.days(1)

    /// The next first. It goes by what is known of each without explaining it.
    private func waitingWork(at now: Moment) -> [WaitingWork] {
        var works: [WaitingWork] = []
        for index in usedIndices {
            let (app, start) = (apps[index], apps.wait(of: index).start)
            for (position, request) in app.requests.enumerated() where app.isWaiting(request) {
                let due = due(request, start, now)
                works.append(WaitingWork(app: index, request: position, due: due))
            }
        }
        return works.sorted {
            ($0.due, $0.app, $0.request) < ($1.due, $1.app, $1.request)
        }
    }

    /// `start`: when work of its app may start, by time alone.
    private func due(_ request: Request, _ start: BootTime, _ now: Moment) -> Due {
        let date = request.earliest.map { now.boot + ($0 - now.wall) } ?? now.boot
        let horizon = now.boot + Self.soon
        guard start != .distantFuture else { return date > horizon ? .later(date) : .sometime }
        let time = max(start, date)
        return time > horizon ? .later(time) : .soon(time)
    }
}
