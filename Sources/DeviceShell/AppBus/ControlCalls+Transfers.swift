internal import AppProtocol
internal import DeviceCore
internal import Linux
internal import Vocabulary

extension TransferOrder {
    /// Those of a call, which is valid.
    static func of(_ call: Control1.Download, at now: WallTime) -> [TransferOrder] {
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
            order.set(call.manner, at: now)
            return order
        }
    }

    /// Looks at each file as it is now.
    static func of(_ call: Control1.Upload, at now: WallTime) throws(Refusal) -> [TransferOrder] {
        let headers = call.manner.fields
        let method = UploadMethod(rawValue: call.method ?? "") ?? .put
        var orders: [TransferOrder] = []
        for file in call.files {
            let source = UploadFile(
                directory: Files.directory(of: file.file),
                name: Files.name(of: file.file)
            )
            let request = UploadRequest(
                method: method,
                source: try identity(of: source),
                mayRepeat: method == .put || call.idempotent
            )
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
        return orders
    }

    private static func identity(of file: UploadFile) throws(Refusal) -> FileIdentity {
        do throws(LinuxError) {
            return try UploadSource.identity(of: file)
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
        earliest = manner.after.map { now + $0 }
        (rateLimit, proxy) = (manner.rate, manner.proxy)
    }
}

extension Control1.TransferManner {
    fileprivate var fields: [HTTPField] { (headers ?? []).compactMap(HTTPField.init(line:)) }
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
