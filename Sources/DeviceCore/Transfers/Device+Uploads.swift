import Vocabulary

/// How uploads differ from downloads: what an attempt is told, and what becomes of it.
extension Device {
    /// Before the first byte is sent the store knows that the server may have it: a daemon that is
    /// killed does not send a second file unasked.
    mutating func beginUpload(
        _ id: TransferID,
        _ request: UploadRequest,
        _ transition: inout Transition
    ) {
        guard let transfer = transfers[id] else { return }
        var progress = transfer.upload ?? UploadProgress()
        if progress.resource == nil, !request.mayRepeat {
            guard !progress.mayHaveArrived else { return endUncertain(id, &transition) }
            progress.mayHaveArrived = true
            transfers.change(id) { $0.upload = progress }
            save(.transfer(id))
        }
        let order = transfer.order
        var exchange = UploadOrder(
            url: order.url.withSmallScheme,
            method: request.method,
            headers: headers(of: transfer, request),
            source: request.source,
            resource: progress.resource,
            interop: progress.interop,
            mayRepeat: request.mayRepeat,
            errors: order.errors,
            timeout: min(order.timeout, ExchangeOrder.longestTimeout),
            rateLimit: order.rateLimit,
            proxy: proxy(of: order)
        )
        if progress.resource != nil { exchange.sent = progress.sent }
        exchange.reportsChallenges = reportsChallenges(transfer)
        exchange.connectionsPerHost = settings.transfersPerHost
        var file = UploadFile(
            directory: order.directory,
            name: order.name ?? "",
            credentials: order.credentials
        )
        file.logins = logins(of: transfer)
        transition.emit(.transfer(id, .upload(exchange, file)))
    }

    /// A server that knows `Idempotency-Key` takes a second copy for the first one.
    private func headers(of transfer: Transfer, _ request: UploadRequest) -> [HTTPField] {
        let headers = transfer.order.headers
        guard !request.method.isIdempotent, headers.value(of: "Idempotency-Key") == nil else {
            return headers
        }
        var random = SeededRandom(seed: UInt64(bitPattern: seed) ^ transfer.id.number << 20)
        let key = String(random.next(), radix: 16) + String(random.next(), radix: 16)
        return headers + [HTTPField("Idempotency-Key", "\"\(key)\"")]
    }

    /// What a server has made for an upload that has failed, or was cancelled, is of use to nobody.
    func removeUpload(
        _ transfer: Transfer,
        _ end: TransferEnd,
        _ transition: inout Transition
    ) {
        guard let resource = transfer.upload?.resource else { return }
        // It may be complete, and then it is not ours to remove.
        if case .failed(let failure) = end, failure.code == .exchange(.uncertain) { return }
        let removal = UploadRemoval(
            resource: resource,
            url: transfer.order.url.withSmallScheme,
            headers: transfer.order.headers,
            proxy: proxy(of: transfer.order)
        )
        transition.emit(.transfer(transfer.id, .remove(removal)))
    }

    private mutating func endUncertain(_ id: TransferID, _ transition: inout Transition) {
        let failure = TransferFailure(
            code: .exchange(.uncertain),
            reason: "it was interrupted, and the server may have the file"
        )
        end(id, .failed(failure), &transition)
    }

    /// The server has made something for it, or has forgotten that.
    mutating func uploadResource(_ id: TransferID, _ resource: UploadResource?) {
        transfers.change(id) { $0.upload = $0.upload ?? UploadProgress() }
        transfers.change(id) {
            $0.upload?.resource = resource
            $0.upload?.sent = nil
        }
        save(.transfer(id))
    }

    /// The next attempt looks whether the file still begins with it.
    mutating func uploadSent(_ id: TransferID, _ part: SentPart) {
        guard transfers[id]?.upload?.resource != nil else { return }
        transfers.change(id) { $0.upload?.sent = part }
        save(.transfer(id))
    }

    /// `confirmed`: the server has so much.
    mutating func uploadProgressed(
        _ id: TransferID,
        _ attempt: Transfer.Attempt,
        sent: Int64,
        confirmed: Int64
    ) {
        var attempt = attempt
        attempt.received = max(sent, confirmed)
        transfers.change(id) { $0.state = .running(attempt) }
        if confirm(id, confirmed) {
            transfers.change(id) { $0.retry = nil }
            save(.transfer(id))
        }
    }

    /// Whether that is more than was known.
    private mutating func confirm(_ id: TransferID, _ offset: Int64) -> Bool {
        guard let resource = transfers[id]?.upload?.resource, offset > resource.offset else {
            return false
        }
        transfers.change(id) { $0.upload?.resource?.offset = offset }
        return true
    }

    /// The server has refused it, and so has nothing of this attempt but what it has confirmed.
    mutating func uploadRefused(_ id: TransferID, confirmed: Int64?) {
        transfers.change(id) { $0.upload?.mayHaveArrived = false }
        if let confirmed { _ = confirm(id, confirmed) }
    }

    /// `confirmed`: as of the attempt, which says with it that another one may follow; nil: nobody
    /// knows what it has sent.
    mutating func uploadInterrupted(
        _ id: TransferID,
        _ interruption: ExchangeEnd.Interruption,
        _ attempt: Transfer.Attempt,
        confirmed: Int64?,
        _ transition: inout Transition
    ) {
        var hasProgressed = false
        if let confirmed {
            transfers.change(id) { $0.upload?.mayHaveArrived = false }
            hasProgressed = confirm(id, confirmed)
        }
        let progress = transfers[id]?.upload ?? UploadProgress()
        if progress.resource == nil {
            // What its user has ended is not gone on with anyway.
            if progress.mayHaveArrived, !attempt.next.isEnd {
                return endUncertain(id, &transition)
            }
            // The server has not taken up what it was offered.
            if attempt.received > 0 {
                transfers.change(id) {
                    $0.upload = progress
                    $0.upload?.interop = progress.interop.other
                }
            }
        }
        if interruption.cause == .stopped || attempt.then != nil {
            return settle(id, as: attempt.next, &transition)
        }
        delay(id, interruption, hasProgressed: hasProgressed, &transition)
        settle(id, as: .wait, &transition)
    }
}
