import Vocabulary

/// What the user is told of transfers that have ended, all that were asked for at once together.
package struct TransferNotice: Hashable, Sendable, Codable {
    package var isUpload: Bool
    package var finished = 0
    package var failed = 0
    /// Of the only one: the name of its file, or its URL.
    package var name: String?
    /// Why the first that failed has failed.
    package var reason: String?

    package init(isUpload: Bool) { self.isUpload = isUpload }

    /// One line, for a person.
    package var title: String {
        let what = isUpload ? "upload" : "download"
        let count = finished + failed
        guard count > 1 else {
            let verb = failed > 0 ? "failed" : "finished"
            return "\(isUpload ? "Upload" : "Download") \(verb)"
        }
        if failed == 0 { return "\(count) \(what)s finished" }
        if finished == 0 { return "\(count) \(what)s failed" }
        return "\(finished) \(what)s finished, \(failed) failed"
    }

    /// More of it, for a person.
    package var text: String { [name, reason].compactMap(\.self).joined(separator: "\n") }
}

extension Device {
    /// After the end of a transfer: the user is told once all of its group have ended. Whoever has
    /// cancelled all knows already.
    mutating func noticeEnd(of id: TransferID, _ transition: inout Transition) {
        guard let ended = transfers[id], let group = ended.group, !transfers.isOpen(group) else {
            return
        }
        var notice = TransferNotice(isUpload: ended.order.direction.isUpload)
        for other in group.ids {
            guard let transfer = transfers[other], case .ended(let end, _) = transfer.state else {
                continue
            }
            switch end {
            case .finished(_, let name):
                notice.finished += 1
                notice.name = name
            case .failed(let failure):
                notice.failed += 1
                notice.name = transfer.order.url.withoutPassword
                notice.reason = notice.reason ?? failure.reason
            case .cancelled: break
            }
        }
        let count = notice.finished + notice.failed
        guard count > 0 else { return }
        if count > 1 { notice.name = nil }
        transition.emit(.transfer(id, .notify(notice)))
    }
}
