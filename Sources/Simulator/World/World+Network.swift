import DeviceCore
import ExchangeCore
import Vocabulary

/// Downloads in the virtual world.
extension World {
    // MARK: The user

    func planDownload() {
        plan(.download, after: .minutes(network.random.within(60...1_500)))
    }

    /// Asks for some files, or changes its mind about some.
    func download() {
        planDownload()
        guard daemonIsAlive else { return }
        if !network.promised.isEmpty, network.random.chance(1, in: 3) {
            let id = network.promised[network.random.below(network.promised.count)]
            let requests: [TransferRequest] = [
                .pause([id]), .resume([id]), .cancel([id]), .forget([id]),
                .move([id], TransferMove(place: .first)), .move([id], TransferMove(place: .last)),
                .move([id], TransferMove(directory: "/media")),
            ]
            return call(.transfer(requests[network.random.below(requests.count)]))
        }
        var orders: [TransferOrder] = []
        for _ in 0...network.random.below(8) {
            let object = network.objects[network.random.below(network.objects.count)]
            var order = TransferOrder(url: object.url, directory: "/home", overwrites: true)
            order.isDiscretionary = network.random.chance(1, in: 3)
            order.needs.unmetered = network.random.chance(1, in: 4)
            if network.random.chance(1, in: 4) {
                order.earliest = now.wall + .minutes(network.random.within(1...900))
            }
            orders.append(order)
        }
        call(.transfer(.enqueue(orders, token: nil)))
    }

    // MARK: What the daemon does

    func perform(_ action: TransferAction, _ id: TransferID) {
        switch action {
        case .begin(let order, let file): begin(id, order, file.partialName)
        case .upload(let order, _): beginUpload(id, order)
        case .proceed:
            guard let index = network.exchangeIndex(id) else { return }
            // Chance would hardly hit this moment between two versions.
            if swarm.strikes(.networkKilled, in: 1, &network.random) { return killNetwork() }
            perform(network.exchanges[index].exchange.proceed(), id)
            if case .waiting = network.exchanges.first(where: { $0.id == id })?.phase { return }
            planExchange(id)
        case .stop:
            guard let index = network.exchangeIndex(id) else { return stopUpload(id) }
            perform(network.exchanges[index].exchange.stop(), id)
        case .place(let placement): place(placement, id)
        // Every file may be replaced, and nobody looks.
        case .look, .notify: break
        case .discard(let file): network.files.removeAll { $0.name == file.partialName }
        case .remove(let removal):
            network.uploads.resources.removeAll {
                $0.file.name == removal.resource.url && !$0.isComplete
            }
        }
    }

    private func begin(_ id: TransferID, _ order: ExchangeOrder, _ name: String) {
        let file = network.open(name)
        let durable = order.resume?.offset ?? 0
        guard network.files[file].size >= durable else {
            network.files.remove(at: file)
            send(.transfer(id, .lost))
            return send(.transfer(id, .ended(.interrupted(.init(.stopped)), durable: nil)))
        }
        send(.transfer(id, .opened(inode: network.files[file].inode)))
        network.exchanges.append(
            VirtualExchange(
                id: id,
                file: name,
                exchange: Exchange(order),
                durable: durable,
                isResumable: durable > 0
            )
        )
        perform(network.exchanges[network.exchanges.count - 1].exchange.begin(), id)
    }

    private func place(_ placement: Placement, _ id: TransferID) {
        let partial = placement.file.partialName
        guard network.fileIndex(partial) != nil else {
            let isNamed = network.files.contains {
                $0.name == placement.name && $0.inode == placement.inode
            }
            return send(.transfer(id, isNamed ? .placed(name: placement.name) : .lost))
        }
        network.files.removeAll { $0.name == placement.name }
        if let index = network.fileIndex(partial) {
            network.files[index].name = placement.name
            network.files[index].sync()
        }
        send(.transfer(id, .placed(name: placement.name)))
    }

    // MARK: Exchanges

    private func planExchange(_ id: TransferID) {
        let delay = Interval.milliseconds(network.random.within(5...60_000))
        plan(.exchange(id, life: life), after: delay)
    }

    func exchangeStep(_ id: TransferID, life: Int) {
        guard life == self.life else { return }
        guard let index = network.exchangeIndex(id) else { return uploadStep(id) }
        if swarm.strikes(.networkKilled, in: 500, &network.random) { return killNetwork() }
        if swarm.strikes(.connectionLost, in: 20, &network.random) {
            let failed = network.exchanges[index].exchange.failed(.init(.connection))
            return perform(failed, id)
        }
        switch network.exchanges[index].phase {
        case .waiting: break
        case .asking: answer(index)
        case .receiving(let version, let left): receive(index, version, left)
        }
    }

    /// What runs goes on with another one.
    func killNetwork() {
        let lost = network.exchanges
        network.exchanges.removeAll()
        killUploads()
        for exchange in lost {
            let end = ExchangeEnd.interrupted(.init(.shortage))
            send(.transfer(exchange.id, .ended(end, durable: nil)))
        }
    }

    /// The server does what it does, or what it should not.
    private func answer(_ index: Int) {
        let (id, exchange) = (network.exchanges[index].id, network.exchanges[index].exchange)
        guard let object = network.objects.firstIndex(where: { $0.url == exchange.url }) else {
            return
        }
        // More often when part of the file is there: only then can much go wrong.
        let odds = exchange.received > 0 ? 1 : 10
        if swarm.strikes(.objectChanged, in: odds, &network.random) {
            // When it keeps its length, only a validator tells the versions apart.
            let other = network.random.within(1...200_000_000)
            let keepsSize = network.random.chance(1, in: 2)
            network.objects[object].change(to: keepsSize ? network.objects[object].size : other)
            network.objects[object].isWeak = network.random.chance(1, in: 5)
        }
        let isBad = swarm.strikes(.badServer, in: 10, &network.random)
        if isBad, network.random.chance(1, in: 4) {
            let head = Exchange.Head(status: 503, fields: [], length: 0)
            let actions = network.exchanges[index].exchange.answered(head)
            return perform(actions, id)
        }
        let (head, first, end) = Self.head(
            network.objects[object],
            exchange.fields,
            trustsAll: isBad,
            partOnly: isBad && network.random.chance(1, in: 2)
        )
        let version = network.objects[object].version
        network.exchanges[index].phase = .receiving(version: version, left: end - first)
        let actions = network.exchanges[index].exchange.answered(head)
        perform(actions, id)
        if network.exchangeIndex(id) != nil { planExchange(id) }
    }

    /// `trustsAll`: it sends a part whatever `If-Range` says. `partOnly`: less than was asked for.
    private static func head(
        _ object: VirtualObject,
        _ fields: [HTTPField],
        trustsAll: Bool,
        partOnly: Bool
    ) -> (Exchange.Head, first: Int64, end: Int64) {
        let size = object.size
        let tag = HTTPField("ETag", object.tag)
        let whole = (
            Exchange.Head(status: 200, fields: [tag], length: size), first: Int64(0), end: size
        )
        guard let range = fields.value(of: "Range"),
            let first = Int64(range.dropFirst("bytes=".count).dropLast()), first < size,
            trustsAll || fields.value(of: "If-Range") == object.tag
        else { return whole }
        let end = partOnly ? first + (size - first + 1) / 2 : size
        let part = HTTPField("Content-Range", "bytes \(first)-\(end - 1)/\(size)")
        let head = Exchange.Head(status: 206, fields: [tag, part], length: end - first)
        return (head, first: first, end: end)
    }

    private func receive(_ index: Int, _ version: Int, _ left: Int64) {
        let id = network.exchanges[index].id
        // Held back until the daemon has forgotten.
        guard !network.exchanges[index].exchange.isWaiting else { return }
        let count = min(left, network.random.within(1...80_000_000))
        if count > 0 {
            let (offset, actions) = network.exchanges[index].exchange.received(Int(count))
            if let offset {
                let file = network.open(network.exchanges[index].file)
                network.files[file].write(count, of: version, at: offset)
            }
            perform(actions, id)
        }
        guard let index = network.exchangeIndex(id) else { return }
        network.exchanges[index].phase = .receiving(version: version, left: left - count)
        if left > count {
            if network.exchanges[index].isResumable, network.random.chance(1, in: 2) {
                sync(index)
                let (received, durable) = (
                    network.exchanges[index].exchange.received, network.exchanges[index].durable
                )
                send(.transfer(id, .progress(received: received, durable: durable)))
            }
        } else {
            let actions = network.exchanges[index].exchange.bodyEnded()
            perform(actions, id)
        }
        if network.exchangeIndex(id) != nil { planExchange(id) }
    }

    private func sync(_ index: Int) {
        let file = network.open(network.exchanges[index].file)
        network.files[file].sync()
        network.exchanges[index].durable = network.exchanges[index].exchange.received
    }

    private func perform(_ actions: [Exchange.Action], _ id: TransferID) {
        for action in actions {
            guard let index = network.exchangeIndex(id) else { return }
            switch action {
            case .request:
                network.exchanges[index].phase = .asking
                planExchange(id)
            case .answered(let answer):
                network.exchanges[index].isResumable = answer.validator != nil
                if answer.startsAnew { network.exchanges[index].durable = 0 }
                send(.transfer(id, .answered(answer)))
            case .truncate:
                let file = network.open(network.exchanges[index].file)
                network.files[file].truncate(to: 0)
                network.exchanges[index].durable = 0
            case .skipBody: network.exchanges[index].phase = .waiting
            case .end(let end): finish(index, end)
            }
        }
    }

    private func finish(_ index: Int, _ end: ExchangeEnd) {
        let isWhole = if case .complete = end { true } else { false }
        let isWaiting = network.exchanges[index].exchange.isWaiting
        let (id, durable) = (network.exchanges[index].id, network.exchanges[index].durable)
        if case .complete(let size) = end {
            send(.transfer(id, .progress(received: size, durable: min(durable, size))))
        }
        if isWhole || network.exchanges[index].isResumable && !isWaiting { sync(index) }
        let exchange = network.exchanges.remove(at: index)
        send(.transfer(exchange.id, .ended(end, durable: exchange.durable)))
    }
}
