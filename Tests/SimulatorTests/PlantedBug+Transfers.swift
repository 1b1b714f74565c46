import DeviceCore
import ExchangeCore
import Vocabulary

extension PlantedBug {
    /// Bugs about transfers, of the core and of the network process.
    static let transfers: [PlantedBug] = [
        PlantedBug(
            "a part is taken whatever its version",
            "a downloaded file is one version, and whole"
        ).with {
            $0.days = 60
            // As one does who resumes without looking.
            $0.server = { head, exchange in
                guard head.status == 206,
                    let known = exchange.fields.value(of: "If-Range")
                else { return head }
                var head = head
                head.fields.removeAll(named: "ETag")
                head.fields.append(HTTPField("ETag", known))
                let size = exchange.order.resume?.total
                let range = head.fields.value(of: "Content-Range")
                if let size, let range, let slash = range.firstIndex(of: "/") {
                    head.fields.removeAll(named: "Content-Range")
                    let text = range[...slash] + "\(size)"
                    head.fields.append(HTTPField("Content-Range", String(text)))
                }
                return head
            }
        },
        PlantedBug("transfers begin without limit", "transfers begin when they may").with {
            $0.days = 10
            $0.effect = { effect, _ in
                guard case .transfer(let id, .begin) = effect, case .transfer(_, let begin) = effect
                else { return [effect] }
                return (0..<40).map { .transfer(TransferID(id.number + $0 * 1000), begin) }
            }
        },
        PlantedBug("transfers are not stored", "a transfer that was promised is kept").with {
            $0.days = 20
            $0.changes = { changes in
                changes.filter { if case .put(.transfer) = $0 { false } else { true } }
            }
        },
    ]
}
