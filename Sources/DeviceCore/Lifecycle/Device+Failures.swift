import Vocabulary

/// Failures in a row: what they cause, and how long they are told.
extension Device {
    mutating func countFailure(
        reason: String,
        of index: Int,
        _ transition: inout Transition
    ) {
        var failures = apps[index].record.failures
        failures.count += 1
        failures.since = failures.since ?? transition.now.wall
        failures.reason = reason
        failures.until =
            transition.now.wall + settings.value.wait(settings.backOff, doubled: failures.count - 1)
        if failures.count >= settings.failuresBeforeCommand, !failures.commandRan,
            !settings.failureCommand.isEmpty, !isStopping
        {
            failures.commandRan = true
            transition.emit(
                .notifyFailures(
                    apps[index].id,
                    count: failures.count,
                    reason: reason,
                    command: settings.failureCommand
                )
            )
        }
        apps[index].record.failures = failures
    }

    /// As `systemctl reset-failed`: the next failure is the first again, and the wait is over.
    mutating func dismiss(_ app: AppID?, _ reply: ReplyToken, _ transition: inout Transition) {
        do throws(Refusal) {
            for index in try failed(app) {
                apps[index].record.failures = Failures()
                if apps[index].isPlanned { refreshPolicy.requestsChanged(of: index) }
                save(app: index)
                touch(index)
            }
            transition.reply(reply, .done)
        } catch {
            transition.reply(reply, .refused(error))
        }
    }

    private func failed(_ app: AppID?) throws(Refusal) -> [Int] {
        guard let app else { return usedIndices.filter { apps[$0].record.failures.count > 0 } }
        guard let index = apps.index(of: app), isListed(index) else { throw unknown(app) }
        guard apps[index].record.failures.count > 0 else {
            throw Refusal(
                .notFound,
                reason: "there is no failure to dismiss",
                value: app.name,
                fix: "offstage status lists the apps that fail"
            )
        }
        return [index]
    }

    /// Whether the failures of an app stand in `status`. Those of what comes back do until it
    /// succeeds; those of what was asked for once, and is not tried again, only for a time.
    func tellsFailures(of app: AppState, at now: WallTime) -> Bool {
        guard app.manifest != nil, app.record.failures.count > 0 else { return false }
        guard app.requests.isEmpty else { return true }
        let end = app.record.lastRun?.at ?? app.record.failures.since
        return end.map { now < $0 + settings.failureAge } ?? false
    }
}
