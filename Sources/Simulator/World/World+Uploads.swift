import DeviceCore
import ExchangeCore
import Vocabulary

/// Uploads in the virtual world.
extension World {
    func planUpload() {
        plan(.upload, after: .minutes(network.uploads.random.within(60...1_500)))
    }

    /// Asks for some files to be sent, or changes one that may still be on its way.
    func upload() {
        planUpload()
        guard daemonIsAlive else { return }
        if !network.uploads.sources.isEmpty, network.uploads.random.chance(1, in: 6) {
            let count = network.uploads.sources.count
            // One of the last, which may not have been sent yet.
            let index = count - 1 - network.uploads.random.below(min(4, count))
            network.uploads.sources[index].current.modified += 1
        }
        var orders: [TransferOrder] = []
        for _ in 0...network.uploads.random.below(4) {
            let number = network.uploads.sources.count
            let host = network.uploads.random.below(3)
            let size = network.uploads.random.within(0...200_000_000)
            let identity = FileIdentity(
                // Some are empty.
                size: size < 10_000_000 ? 0 : size,
                modified: 1,
                inode: UInt64(number)
            )
            var source = VirtualSource(
                url: "https://h\(host).example/up/\(number)",
                method: network.uploads.random.chance(1, in: 2) ? .put : .post,
                asked: identity,
                current: identity
            )
            if network.uploads.random.chance(1, in: 10) { source.current.modified += 1 }
            network.uploads.sources.append(source)
            let request = UploadRequest(
                method: source.method,
                source: identity,
                mayRepeat: source.method.isIdempotent
            )
            var order = TransferOrder(
                url: source.url,
                direction: .upload(request),
                directory: "/home",
                name: "file\(number)"
            )
            order.isDiscretionary = network.uploads.random.chance(1, in: 3)
            orders.append(order)
        }
        call(.transfer(.enqueue(orders, token: nil)))
    }

    func beginUpload(_ id: TransferID, _ order: UploadOrder) {
        let source = network.uploads.source(of: order.url)
        guard source?.current == order.source else {
            let failure = ExchangeFailure(.source, reason: "it has changed")
            let confirmed = order.resource?.offset ?? 0
            return send(.transfer(id, .ended(.failed(failure), durable: confirmed)))
        }
        let exchange = UploadExchange(order, digits: { _, text in text })
        network.uploads.exchanges.append(
            VirtualUploadExchange(id: id, url: order.url, exchange: exchange)
        )
        let last = network.uploads.exchanges.count - 1
        perform(network.uploads.exchanges[last].exchange.begin(), id)
    }

    func stopUpload(_ id: TransferID) {
        guard let index = network.uploads.exchangeIndex(id) else { return }
        perform(network.uploads.exchanges[index].exchange.stop(), id)
    }

    func killUploads() {
        let lost = network.uploads.exchanges
        network.uploads.exchanges.removeAll()
        for exchange in lost {
            let end = ExchangeEnd.interrupted(.init(.shortage))
            send(.transfer(exchange.id, .ended(end, durable: nil)))
        }
    }

    private func planUploadStep(_ id: TransferID) {
        let delay = Interval.milliseconds(network.uploads.random.within(5...60_000))
        plan(.exchange(id, life: life), after: delay)
    }

    /// The next thing that happens; the caller has seen to it that this daemon began it.
    func uploadStep(_ id: TransferID) {
        guard let index = network.uploads.exchangeIndex(id) else { return }
        if swarm.strikes(.networkKilled, in: 500, &network.uploads.random) {
            return killNetwork()
        }
        if swarm.strikes(.connectionLost, in: 20, &network.uploads.random) {
            return lose(id)
        }
        switch network.uploads.exchanges[index].phase {
        case .asking: serve(index)
        case .sending(let file, let place, let end): take(index, file, place, end)
        }
    }

    private func lose(_ id: TransferID) {
        guard let index = network.uploads.exchangeIndex(id) else { return }
        perform(network.uploads.exchanges[index].exchange.failed(.init(.connection)), id)
    }

    // MARK: The server

    /// The head of a request has come.
    private func serve(_ index: Int) {
        let (id, url) = (network.uploads.exchanges[index].id, network.uploads.exchanges[index].url)
        let request = network.uploads.exchanges[index].exchange.request
        network.uploads.exchanges[index].exchange.goesOut()
        if swarm.strikes(.badServer, in: 10, &network.uploads.random) { return answer(id, 503) }
        guard request.url == url else { return serve(request, id) }
        let end = request.body?.upperBound ?? 0
        let asked = request.fields.value(of: "Upload-Draft-Interop-Version")
        guard let interop = VirtualUploads.interop(url), asked == "\(interop.rawValue)" else {
            return receive(id, VirtualFile(name: "", inode: 0), nil, end)
        }
        let place = "\(url)/made/\(network.uploads.made)"
        network.uploads.made += 1
        let file = VirtualFile(name: place, inode: 0)
        network.uploads.resources.append(VirtualResource(url: url, file: file))
        inform(id, HTTPField("Location", place))
        receive(id, file, place, end)
    }

    /// A request to what it has made.
    private func serve(_ request: UploadExchange.Request, _ id: TransferID) {
        if swarm.strikes(.objectChanged, in: 10, &network.uploads.random) {
            network.uploads.resources.removeAll { $0.file.name == request.url && !$0.isComplete }
        }
        guard let index = network.uploads.resourceIndex(request.url) else {
            return answer(id, 404)
        }
        let resource = network.uploads.resources[index]
        let offset = HTTPField("Upload-Offset", "\(resource.file.size)")
        guard let body = request.body else {
            let complete = HTTPField("Upload-Complete", resource.isComplete ? "?1" : "?0")
            return answer(id, 204, [offset, complete])
        }
        guard !resource.isComplete else { return answer(id, 400) }
        guard body.lowerBound == resource.file.size else { return answer(id, 409, [offset]) }
        receive(id, resource.file, request.url, body.upperBound)
    }

    private func receive(_ id: TransferID, _ file: VirtualFile, _ place: String?, _ end: Int64) {
        guard let index = network.uploads.exchangeIndex(id) else { return }
        network.uploads.exchanges[index].phase = .sending(file, place: place, end: end)
        planUploadStep(id)
    }

    /// Some bytes come.
    private func take(_ index: Int, _ file: VirtualFile, _ place: String?, _ end: Int64) {
        let (id, url) = (network.uploads.exchanges[index].id, network.uploads.exchanges[index].url)
        var file = file
        let count = min(end - file.size, network.uploads.random.within(1...80_000_000))
        let source = network.uploads.source(of: url)?.current
        if count > 0 {
            guard let source, source == network.uploads.exchanges[index].exchange.order.source
            else {
                let failure = ExchangeFailure(.source, reason: "it has changed")
                return perform(network.uploads.exchanges[index].exchange.fail(failure), id)
            }
            network.uploads.exchanges[index].exchange.sending(Int(count))
            // What a broken connection has swallowed.
            let isLost = swarm.strikes(.connectionLost, in: 30, &network.uploads.random)
            let arrived = isLost ? network.uploads.random.within(0...count) : count
            file.write(arrived, of: Int(source.modified), at: file.size)
            keep(file, place)
            if isLost { return lose(id) }
        }
        guard file.size == end else {
            if place != nil, network.uploads.random.chance(1, in: 2) {
                inform(id, HTTPField("Upload-Offset", "\(file.size)"))
                tellProgress(id)
            }
            return receive(id, file, place, end)
        }
        network.uploads.taken.append(TakenFile(url: url, file: file))
        if let place, let resource = network.uploads.resourceIndex(place) {
            network.uploads.resources[resource].isComplete = true
        }
        if swarm.strikes(.connectionLost, in: 5, &network.uploads.random) { return lose(id) }
        answer(id, 201, place == nil ? [] : [HTTPField("Upload-Complete", "?1")])
    }

    private func keep(_ file: VirtualFile, _ place: String?) {
        guard let index = place.flatMap({ network.uploads.resourceIndex($0) }) else { return }
        network.uploads.resources[index].file = file
    }

    private func inform(_ id: TransferID, _ field: HTTPField) {
        guard let index = network.uploads.exchangeIndex(id) else { return }
        let interop = VirtualUploads.interop(network.uploads.exchanges[index].url)
        let version = HTTPField("Upload-Draft-Interop-Version", "\(interop?.rawValue ?? 0)")
        let head = Exchange.Head(status: 104, fields: [field, version], length: nil)
        perform(network.uploads.exchanges[index].exchange.informed(head), id)
    }

    private func answer(_ id: TransferID, _ status: Int, _ fields: [HTTPField] = []) {
        guard let index = network.uploads.exchangeIndex(id) else { return }
        let head = Exchange.Head(status: status, fields: fields, length: nil)
        network.uploads.exchanges[index].exchange.answered(head)
        perform(network.uploads.exchanges[index].exchange.answerEnded(), id)
    }

    // MARK: The daemon

    private func tellProgress(_ id: TransferID) {
        guard let index = network.uploads.exchangeIndex(id) else { return }
        let exchange = network.uploads.exchanges[index].exchange
        let sent = max(exchange.sent, exchange.confirmed)
        tellPart(id)
        send(.transfer(id, .progress(received: sent, durable: exchange.confirmed)))
    }

    private func tellPart(_ id: TransferID) {
        guard let index = network.uploads.exchangeIndex(id) else { return }
        let exchange = network.uploads.exchanges[index].exchange
        guard exchange.resource != nil, exchange.unchecked == nil,
            let source = network.uploads.source(of: network.uploads.exchanges[index].url)
        else { return }
        send(.transfer(id, .sent(source.part(exchange.sent))))
    }

    private func perform(_ actions: [UploadExchange.Action], _ id: TransferID) {
        for action in actions {
            guard let index = network.uploads.exchangeIndex(id) else { return }
            switch action {
            case .request:
                network.uploads.exchanges[index].phase = .asking
                planUploadStep(id)
            case .check(let part):
                let source = network.uploads.source(of: network.uploads.exchanges[index].url)
                let isSame = source?.part(part.count) == part
                perform(network.uploads.exchanges[index].exchange.checked(isSame: isSame), id)
            case .resource(let resource):
                send(.transfer(id, .resource(resource)))
                tellPart(id)
            case .answered(let answer): send(.transfer(id, .answered(answer)))
            case .end(let end):
                tellProgress(id)
                let exchange = network.uploads.exchanges.remove(at: index).exchange
                let durable = if case .complete(let size) = end { size } else { exchange.confirmed }
                send(.transfer(id, .ended(end, durable: durable)))
            }
        }
    }
}
