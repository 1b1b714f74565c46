internal import AppProtocol
internal import DeviceCore
internal import Vocabulary

extension TransferOrder {
    /// Those of a call, which is valid.
    static func of(_ call: Control1.Download, at now: WallTime) -> [TransferOrder] {
        let headers = (call.headers ?? []).compactMap(HTTPField.init(line:))
        return call.files.map { file in
            TransferOrder(
                url: file.url,
                headers: headers,
                directory: call.directory ?? "",
                name: file.file,
                overwrites: call.overwrite,
                isDiscretionary: call.discretionary,
                needs: call.needs,
                earliest: call.after.map { now + $0 },
                sha256: file.sha256.flatMap(Checksum.bytes),
                rateLimit: call.rate,
                proxy: call.proxy
            )
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
