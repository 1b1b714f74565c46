internal import AppProtocol
internal import DeviceCore
internal import Linux
internal import SystemBus
internal import Vocabulary

extension TransferOrder {
    /// Those of a call, which is valid.
    static func of(_ call: Control1.Download, at now: WallTime) throws(Refusal) -> [TransferOrder] {
        try call.manner.checkCredentials(for: call.files.map(\.url), at: now)
        let headers = call.manner.fields
        return call.files.map { file in
            var order = TransferOrder(
                url: file.url,
                headers: headers,
                directory: call.directory ?? "",
                name: file.file,
                overwrites: call.overwrite,
                sha256: file.sha256.flatMap(Checksum.bytes)
            )
            order.moreConnections = (call.connections ?? 1) - 1
            order.permissions = UInt16(clamping: call.permissions ?? 0o644)
            order.set(call.manner, at: now)
            return order
        }
    }

    /// Looks at each file as it is now, and keeps it open if there is room.
    fileprivate static func of(
        _ call: Control1.Upload,
        at now: WallTime,
        _ host: any ControlHost
    ) throws(Refusal) -> (orders: [TransferOrder], sources: [HeldSource?]) {
        try call.manner.checkCredentials(for: call.files.map(\.url), at: now)
        let headers = call.manner.fields
        let method = UploadMethod(rawValue: call.method ?? "") ?? .put
        var orders: [TransferOrder] = []
        var sources: [HeldSource?] = []
        for file in call.files {
            let source = UploadFile(
                directory: Files.directory(of: file.file),
                name: Files.name(of: file.file)
            )
            let opened = try open(source)
            let request = UploadRequest(
                method: method,
                source: opened.identity,
                mayRepeat: method.isIdempotent || call.idempotent
            )
            sources.append(host.take(opened.descriptor))
            var order = TransferOrder(
                url: file.url,
                headers: headers,
                direction: .upload(request),
                directory: source.directory,
                name: source.name
            )
            order.set(call.manner, at: now)
            orders.append(order)
        }
        return (orders, sources)
    }

    private static func open(_ file: UploadFile) throws(Refusal) -> OpenSource {
        do throws(LinuxError) {
            return try UploadSource.open(file)
        } catch {
            throw Refusal(
                .invalid,
                reason: error.errno == .invalid || error.errno == .loop
                    ? "this is no file, or a link leads to it" : "\(error)",
                value: file.path,
                fix: "name a file that you can read"
            )
        }
    }

    private mutating func set(_ manner: Control1.TransferManner, at now: WallTime) {
        isDiscretionary = manner.discretionary
        needs = manner.needs
        // A date is one of the caller's, and does not move with a clock that is set.
        (earliest, delay) = (manner.after.map { now + $0 }, manner.after)
        if let date = manner.earliest { (earliest, delay) = (date, nil) }
        (rateLimit, proxy) = (manner.rate, manner.proxy)
        credentials = manner.credentials.isEmpty ? nil : manner.credentials
        notifies = manner.notifies
    }
}

extension Control1.TransferManner {
    fileprivate var fields: [HTTPField] { (headers ?? []).compactMap(HTTPField.init(line:)) }

    /// Who has named a wrong file learns it at once. They are read again when they are needed.
    fileprivate func checkCredentials(
        for urls: [String],
        at now: WallTime
    ) throws(Refusal) {
        if credentials.isEmpty { return }
        let reader = CredentialReader()
        var seen = Set<Substring>()
        for url in urls where seen.insert(url.urlHost).inserted {
            do throws(CredentialReader.Problem) {
                _ = try reader.read(credentials, for: String(url.urlHost), at: now)
            } catch {
                throw Refusal(
                    .invalid,
                    reason: error.reason,
                    value: error.path,
                    fix: error.fix
                )
            }
        }
    }
}

extension TransferRequest {
    init(_ call: Control1.ChangeTransfers) {
        let ids = call.transfers.map { TransferID(UInt64(clamping: $0)) }
        self =
            switch call.action {
            case .pause: .pause(ids)
            case .resume: .resume(ids)
            case .cancel: .cancel(ids)
            case .forget: .forget(ids.isEmpty ? nil : ids)
            }
    }
}

extension ControlHost {
    /// An upload that was taken keeps its file, unless it has ended: its call may be one that was
    /// made again.
    func hold(_ source: HeldSource?, ifTaken id: TransferID) {
        guard let source, device.transfer(id)?.isEnded == false else { return }
        hold(source, for: id)
    }
}

extension ControlCalls {
    func upload(
        _ call: Control1.Upload,
        _ incoming: IncomingCall,
        at now: Moment
    ) throws(Refusal) {
        let (orders, sources) = try TransferOrder.of(call, at: now.wall, host)
        host.ask(.transfer(.enqueue(orders, token: call.manner.token))) { reply in
            if case .transfers(let ids) = reply {
                for (id, source) in zip(ids, sources) { host.hold(source, ifTaken: id) }
            }
            incoming.answer(call, reply) { enqueued($0, call.manner) }
        }
    }

    /// With what they depend on, and nothing tells.
    func enqueued(_ reply: Reply, _ manner: Control1.TransferManner) -> EnqueuedTransfers? {
        guard var told = reply.enqueued else { return nil }
        let unsensed = host.device.unsensed(by: manner.needs)
        told.unsensed = unsensed.isEmpty ? nil : unsensed
        return told
    }

    func page(_ call: Control1.TransferPage, at now: Moment) -> ListedTransfers {
        let ids = call.transfers ?? host.device.transferIDs.map { Int64(clamping: $0.number) }
        return ListedTransfers(ids) { ids in
            host.device.transferList(ids.map { TransferID(UInt64(clamping: $0)) }, at: now)
        }
    }

    func progress(
        _ call: Control1.TransferProgress,
        at now: Moment
    ) -> Report.TransferProgress {
        host.device.transferProgress(
            of: call.transfers?.map { TransferID(UInt64(clamping: $0)) },
            rows: Int(call.rows ?? 0),
            ended: Int(call.ended ?? 0),
            at: now
        )
    }

    /// What was fetched cannot follow to another file system while it is incomplete.
    func move(_ call: Control1.MoveTransfers) throws(Refusal) -> TransferRequest {
        let ids = call.transfers.map { TransferID(UInt64(clamping: $0)) }
        try checkNames(ids, call)
        if let directory = call.directory {
            for id in ids {
                guard let transfer = host.device.transfer(id), !transfer.isEnded,
                    transfer.received > 0, let to = Files.status(directory),
                    isOnOther(to.device, transfer.file)
                else { continue }
                throw Refusal(
                    .held,
                    reason: "this directory is on another file system, and "
                        + "\(ByteSize.text(transfer.received)) of transfer \(id) are here already",
                    value: directory,
                    fix: "move the file when it is complete"
                )
            }
        }
        let move = TransferMove(
            place: call.place.map { $0 == .first ? .first : .last },
            directory: call.directory,
            name: call.file,
            overwrites: call.overwrite
        )
        return .move(ids, move)
    }

    /// What was fetched is on another file system, wherever it was moved from.
    private func isOnOther(_ device: UInt64, _ file: TransferFile) -> Bool {
        ([file.directory] + file.formers).contains {
            let part = Files.status($0 + "/" + file.partialName, followLinks: false)
            return part.map { $0.device != device } ?? false
        }
    }

    /// All of it would be fetched in vain.
    private func checkNames(
        _ ids: [TransferID],
        _ call: Control1.MoveTransfers
    ) throws(Refusal) {
        guard call.directory != nil || call.file != nil, !call.overwrite else { return }
        for id in ids {
            guard let transfer = host.device.transfer(id), transfer.isMovable,
                let name = call.file ?? transfer.fileName
            else { continue }
            let path = (call.directory ?? transfer.order.directory) + "/" + name
            guard Files.status(path, followLinks: false) != nil else { continue }
            throw Refusal(
                .held,
                reason: "there is a file of that name already",
                value: path,
                fix: "give another name, or --overwrite"
            )
        }
    }
}

extension Transfer {
    /// Its file may still get another name.
    fileprivate var isMovable: Bool {
        !isEnded && !order.direction.isUpload && !order.overwrites && task == nil
    }
}
