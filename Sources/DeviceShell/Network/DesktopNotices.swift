internal import DeviceCore
internal import SystemBus
internal import Vocabulary

/// Tells the user of transfers that have ended, through the notifications of the desktop
/// (`org.freedesktop.Notifications` on the user's session bus).
final class DesktopNotices: ServiceBus.Client {
    private var bus: Bus?
    private static let service = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    init(_ sessionBus: ServiceBus) { sessionBus.add(self) }

    func connected(_ bus: Bus) throws(BusError) { self.bus = bus }

    func disconnected() { bus = nil }

    /// Nobody waits for it: a notice that cannot be shown is only logged.
    func show(_ notice: TransferNotice) {
        guard let bus else { return Self.lose(notice, "there is no session bus") }
        do throws(BusError) {
            // Some services take the text for markup, and say so.
            try bus.call(Self.target("GetCapabilities")) { [weak self] answer in
                let words = (try? answer.get())?.first?.listValue?.compactMap(\.stringValue) ?? []
                self?.show(notice, hasMarkup: words.contains("body-markup"))
            }
        } catch {
            Self.lose(notice, error.message)
        }
    }

    private func show(_ notice: TransferNotice, hasMarkup: Bool) {
        guard let bus else { return Self.lose(notice, "the session bus has gone") }
        let text = hasMarkup ? notice.text.markup : notice.text
        let isFailure = notice.failed > 0
        let hints: Value = ["category": .string("transfer." + (isFailure ? "error" : "complete"))]
        do throws(BusError) {
            try bus.call(
                Self.target("Notify"),
                [
                    "Offstage", .integer(0),
                    .string(isFailure ? "dialog-error" : "folder-download"),
                    .string(notice.title), .string(text), .list([]), hints, .integer(-1),
                ],
                signature: "susssasa{sv}i"
            ) { answer in
                if case .failure(let error) = answer { Self.lose(notice, error.message) }
            }
        } catch {
            Self.lose(notice, error.message)
        }
    }

    private static func target(_ member: String) -> Target {
        Target(service, path, service, member)
    }

    private static func lose(_ notice: TransferNotice, _ reason: String) {
        DaemonLog.write("\(notice.title), which cannot be shown: \(reason)")
    }
}
