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
                .move([id], moveElsewhere()),
            ]
            return call(.transfer(requests[network.random.below(requests.count)]))
        }
        var orders: [TransferOrder] = []
        for _ in 0...network.random.below(8) {
            let object = network.objects[network.random.below(network.objects.count)]
            var order = TransferOrder(url: object.url, directory: "/home", overwrites: true)
            order.isDiscretionary = network.random.chance(1, in: 3)
            order.needs.unmetered = network.random.chance(1, in: 4)
            order.moreConnections = Int64(orders.count % 3)
            if network.random.chance(1, in: 4) {
                order.earliest = now.wall + .minutes(network.random.within(1...900))
            }
            orders.append(order)
        }
        call(.transfer(.enqueue(orders, token: nil)))
    }

    /// To another directory of the same disk, to another disk, or back; perhaps by another name.
    private func moveElsewhere() -> TransferMove {
        let directories = ["/home", "/home/other", "/media"]
        var move = TransferMove(directory: directories[network.random.below(3)])
        if network.random.chance(1, in: 3) { move.name = "moved-\(network.random.below(4))" }
        return move
    }

    /// While its bytes come: only then can much go wrong.
    private func moveSometimes(_ id: TransferID) {
        guard network.random.chance(1, in: 30), network.promised.contains(id) else { return }
        call(.transfer(.move([id], moveElsewhere())))
    }

    // MARK: What the daemon does

    func perform(_ action: TransferAction, _ id: TransferID) {
        switch action {
        case .begin(let order, let file): begin(id, order, file)
        case .upload(let order, _): beginUpload(id, order)
        case .proceed:
            guard let index = network.exchangeIndex(id) else { return }
            // Chance would hardly hit this moment between two versions.
            if swarm.strikes(.networkKilled, in: 1, &network.random) { return killNetwork() }
            perform(network.exchanges[index].exchange.proceed(), id)
            planExchange(id)
        case .stop:
            guard let index = network.exchangeIndex(id) else { return stopUpload(id) }
            perform(network.exchanges[index].exchange.stop(), id)
        case .place(let placement): place(placement, id)
        // Every file may be replaced, and nobody looks.
        case .look, .notify, .forget: break
        case .discard(let file): network.discard(file)
        case .remove(let removal):
            network.uploads.resources.removeAll {
                $0.file.name == removal.resource.url && !$0.isComplete
            }
        }
    }

    private func begin(_ id: TransferID, _ order: ExchangeOrder, _ place: TransferFile) {
        network.bring(place)
        let file = network.open(place.partialName, in: place.directory)
        guard network.files[file].size >= order.resume?.filled.end ?? 0 else {
            network.files.remove(at: file)
            send(.transfer(id, .lost))
            return send(.transfer(id, .ended(.interrupted(.init(.stopped)), durable: nil)))
        }
        send(.transfer(id, .opened(inode: network.files[file].inode)))
        network.exchanges.append(
            VirtualExchange(
                id: id,
                file: place.partialName,
                directory: place.directory,
                order: order
            )
        )
        perform(network.exchanges[network.exchanges.count - 1].exchange.begin(), id)
        planExchange(id)
    }

    private func place(_ placement: Placement, _ id: TransferID) {
        if swarm.strikes(.noRoomForFile, in: 10, &network.placing) {
            return send(.transfer(id, .placementInterrupted(.init(.diskFull))))
        }
        network.bring(placement.file)
        let (partial, directory) = (placement.file.partialName, placement.file.directory)
        guard network.fileIndex(partial, in: directory) != nil else {
            let isNamed = network.files.contains {
                $0.name == placement.name && $0.directory == directory
                    && $0.inode == placement.file.inode
            }
            return send(.transfer(id, isNamed ? .placed(name: placement.name) : .lost))
        }
        network.files.removeAll { $0.name == placement.name && $0.directory == directory }
        if let index = network.fileIndex(partial, in: directory) {
            network.files[index].name = placement.name
            network.files[index].sync()
        }
        send(.transfer(id, .placed(name: placement.name)))
    }

    // MARK: Exchanges

    private func planExchange(_ id: TransferID) {
        guard let index = network.exchangeIndex(id), !network.exchanges[index].isPlanned else {
            return
        }
        network.exchanges[index].isPlanned = true
        let delay = Interval.milliseconds(network.random.within(5...60_000))
        plan(.exchange(id, life: life), after: delay)
    }

    func exchangeStep(_ id: TransferID, life: Int) {
        guard life == self.life else { return }
        guard let index = network.exchangeIndex(id) else { return uploadStep(id) }
        if swarm.strikes(.networkKilled, in: 500, &network.random) { return killNetwork() }
        network.exchanges[index].isPlanned = false
        // It waits for the daemon.
        let requests = network.exchanges[index].requests
        guard !requests.isEmpty, !network.exchanges[index].exchange.isWaiting else { return }
        let place = requests.count > 1 ? network.random.below(requests.count) : 0
        let request = requests[place]
        if swarm.strikes(.connectionLost, in: 20, &network.random) {
            network.exchanges[index].requests.remove(at: place)
            let interruption = ExchangeEnd.Interruption(.connection)
            let connection = request.connection
            perform(
                network.exchanges[index].exchange.failed(interruption, on: connection),
                id
            )
        } else if let answer = request.answer {
            receive(index, place, answer.version, answer.left)
        } else {
            self.answer(index, place)
        }
        moveSometimes(id)
        planExchange(id)
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
    private func answer(_ index: Int, _ place: Int) {
        let request = network.exchanges[index].requests[place]
        let (id, exchange) = (network.exchanges[index].id, network.exchanges[index].exchange)
        guard let object = network.objects.firstIndex(where: { $0.url == exchange.url }) else {
            return
        }
        // More often when part of the file is there: only then can much go wrong.
        let odds = exchange.received > 0 && request.connection == 0 ? 1 : 10
        if swarm.strikes(.objectChanged, in: odds, &network.random) {
            // When it keeps its length, only a validator tells the versions apart.
            let other = network.random.within(1...200_000_000)
            let keepsSize = network.random.chance(1, in: 2)
            network.objects[object].change(to: keepsSize ? network.objects[object].size : other)
            network.objects[object].isWeak = network.random.chance(1, in: 5)
        }
        // One whose app says nothing to it is refused no more often than others.
        if exchange.order.reportsChallenges, swarm.strikes(.unauthorized, in: 20, &network.random) {
            let challenge = HTTPField("WWW-Authenticate", "Basic realm=\"r\"")
            let head = Exchange.Head(status: 401, fields: [challenge], length: 0)
            network.exchanges[index].requests[place].answer = (version: 0, left: 0)
            let connection = request.connection
            return perform(network.exchanges[index].exchange.answered(head, on: connection), id)
        }
        let isBad = swarm.strikes(.badServer, in: 10, &network.random)
        if isBad, network.random.chance(1, in: 4), exchange.order.errors == .fail {
            let head = Exchange.Head(status: 503, fields: [], length: 0)
            network.exchanges[index].requests[place].answer = (version: 0, left: 0)
            let connection = request.connection
            return perform(network.exchanges[index].exchange.answered(head, on: connection), id)
        }
        let (head, first, end) = Self.head(
            network.objects[object],
            request.fields,
            trustsAll: isBad,
            partOnly: isBad && network.random.chance(1, in: 2)
        )
        let version = network.objects[object].version
        network.exchanges[index].requests[place].answer = (version, left: end - first)
        perform(network.exchanges[index].exchange.answered(head, on: request.connection), id)
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
        let ranges = HTTPField("Accept-Ranges", "bytes")
        let time = HTTPField("Last-Modified", VirtualObject.time(of: object.version))
        let whole = (
            Exchange.Head(status: 200, fields: [tag, ranges, time], length: size),
            first: Int64(0),
            end: size
        )
        let asked = fields.value(of: "Range")?.dropFirst("bytes=".count)
            .split(separator: "-").map { Int64($0) ?? 0 }
        guard let asked, let first = asked.first, first < size,
            trustsAll || fields.value(of: "If-Range") == object.tag
        else { return whole }
        let last = asked.count > 1 ? min(size, asked[1] + 1) : size
        let end = partOnly ? first + (last - first + 1) / 2 : last
        let part = HTTPField("Content-Range", "bytes \(first)-\(end - 1)/\(size)")
        let head = Exchange.Head(status: 206, fields: [tag, part], length: end - first)
        return (head, first: first, end: end)
    }

    private func receive(_ index: Int, _ place: Int, _ version: Int, _ left: Int64) {
        let id = network.exchanges[index].id
        let connection = network.exchanges[index].requests[place].connection
        let room = network.exchanges[index].exchange.room(on: connection)
        let wanted = min(left, network.random.within(1...80_000_000))
        let count = room == 0 ? wanted : min(wanted, room)
        network.exchanges[index].requests[place].answer = (version, left - count)
        if left == count { network.exchanges[index].requests.remove(at: place) }
        if count > 0 {
            let (offset, actions) = network.exchanges[index].exchange.received(
                Int(count),
                on: connection
            )
            if let offset {
                let file = openFile(index)
                network.files[file].write(count, of: version, at: offset)
            }
            perform(actions, id)
        }
        guard let index = network.exchangeIndex(id) else { return }
        if left == count {
            perform(network.exchanges[index].exchange.bodyEnded(on: connection), id)
        } else if network.exchanges[index].isResumable, network.random.chance(1, in: 2) {
            sync(index)
            tellProgress(index)
        }
    }

    private func openFile(_ index: Int) -> Int {
        let exchange = network.exchanges[index]
        return network.open(exchange.file, in: exchange.directory)
    }

    private func sync(_ index: Int) {
        let file = openFile(index)
        network.files[file].sync()
        network.exchanges[index].durable = network.exchanges[index].exchange.filled
    }

    private func tellProgress(_ index: Int) {
        tellRanges(index)
        let (id, durable) = (network.exchanges[index].id, network.exchanges[index].durable)
        let received = network.exchanges[index].exchange.received
        send(.transfer(id, .progress(received: received, durable: durable.prefix)))
    }

    private func tellRanges(_ index: Int) {
        let exchange = network.exchanges[index]
        guard exchange.durable.ranges != exchange.ranges else { return }
        network.exchanges[index].ranges = exchange.durable.ranges
        send(.transfer(exchange.id, .ranges(exchange.durable.ranges)))
    }

    private func perform(_ actions: [Exchange.Action], _ id: TransferID) {
        for action in actions {
            guard let index = network.exchangeIndex(id) else { return }
            switch action {
            case .request: ask(index, 0)
            case .fetch(let connection): ask(index, connection)
            case .answered(let answer):
                network.exchanges[index].isResumable = answer.validator != nil
                if answer.startsAnew { network.exchanges[index].forgetDurable() }
                send(.transfer(id, .answered(answer)))
            case .truncate:
                let file = openFile(index)
                network.files[file].truncate(to: 0)
                network.exchanges[index].forgetDurable()
            case .giveUp(let connection): giveUp(index, connection)
            case .end(let end): finish(index, end)
            }
        }
    }

    private func ask(_ index: Int, _ connection: Int) {
        giveUp(index, connection)
        let fields = network.exchanges[index].exchange.fields(on: connection)
        network.exchanges[index].requests.append(
            VirtualRequest(connection: connection, fields: fields)
        )
    }

    private func giveUp(_ index: Int, _ connection: Int) {
        network.exchanges[index].requests.removeAll { $0.connection == connection }
    }

    private func finish(_ index: Int, _ end: ExchangeEnd) {
        let isWhole = if case .complete = end { true } else { false }
        let isWaiting = network.exchanges[index].exchange.isWaiting
        if isWhole { tellProgress(index) }
        if isWhole || network.exchanges[index].isResumable && !isWaiting { sync(index) }
        tellRanges(index)
        let exchange = network.exchanges.remove(at: index)
        send(.transfer(exchange.id, .ended(end, durable: exchange.durable.prefix)))
    }
}
