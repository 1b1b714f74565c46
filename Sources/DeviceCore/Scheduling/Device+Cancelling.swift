import Vocabulary

/// Taking back what was asked for, whether it waits or runs.
extension Device {
    mutating func cancel(
        _ app: AppID,
        _ identifier: String?,
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        do throws(Refusal) {
            // Also of an app whose manifest is gone.
            guard let index = apps.index(of: app),
                !apps[index].requests.isEmpty || apps[index].manifest != nil
                    || apps[index].problem != nil
            else { throw unknown(app) }
            let requests = apps[index].requests
            func isMeant(_ request: Request) -> Bool {
                identifier == nil || request.identifier == identifier
            }
            guard let first = requests.first(where: isMeant) else {
                throw Refusal(
                    .notFound,
                    reason: "\(app) has nothing to cancel",
                    value: identifier ?? "",
                    fix: app == Self.downloads || app == Self.uploads
                        ? "offstage transfers lists them; offstage cancel takes their numbers"
                        : "offstage tasks \(app)"
                )
            }
            let stands = requests.allSatisfy {
                !isMeant($0) || $0.origin.isStanding && $0.launch == nil
            }
            if stands {
                throw Refusal(
                    .held,
                    reason: "\(first.identifier) is defined in the manifest",
                    value: first.identifier,
                    fix: "remove it there, or: offstage set background-refresh off --app \(app)"
                )
            }
            for request in requests where isMeant(request) && request.launch != nil {
                stop(request, of: index, &transition)
            }
            cancelPending(of: index, identifier: identifier, &transition)
            transition.reply(reply, .done)
        } catch {
            transition.reply(reply, .refused(error))
        }
    }

    /// Ends the run of a request; the process of an app that speaks with us lives on.
    private mutating func stop(_ request: Request, of index: Int, _ transition: inout Transition) {
        guard let id = request.launch, let launchIndex = apps[index].index(of: id) else { return }
        // Whatever ends the run: it may be ending for another reason already, or its result is
        // being read, or the app completes it in time.
        if !request.origin.isStanding { _ = markCancelled(request, of: index) }
        if apps[index].launches[launchIndex].isCommand {
            take(.stopped(.cancelled, deliveries: nil), id, &transition)
            return
        }
        let deliveries = apps[index].launches[launchIndex].deliveries.filter {
            $0.request == request.id
        }
        take(.stopped(.cancelled, deliveries: deliveries.map(\.id)), id, &transition)
    }

    /// What is still to come: an offer that is still accepted runs, and so does what runs already,
    /// but neither comes back.
    mutating func cancelPending(of index: Int, identifier: String?, _ transition: inout Transition)
    {
        for request in apps[index].requests
        where !request.origin.isStanding && request.isToCome && request.mode != .simulated
            && (identifier == nil || request.identifier == identifier)
        {
            guard !markCancelled(request, of: index) else { continue }
            drop(request, of: index, reason: "cancelled", &transition)
        }
        touch(index)
    }

    /// Another takes its place, so no line tells of it.
    mutating func giveUp(_ request: Request, of index: Int) {
        guard !markCancelled(request, of: index) else { return }
        apps[index].requests.removeAll { $0.id == request.id }
        forget(request: request.id, of: index)
    }

    /// False: no launch has it. Else it stays until the launch is done with it, which asks what it
    /// needs.
    mutating func markCancelled(_ request: Request, of index: Int) -> Bool {
        guard request.launch != nil, let slot = apps[index].index(of: request.id) else {
            return false
        }
        apps[index].requests[slot].isCancelled = true
        save(app: index, request: request.id)
        return true
    }
}
