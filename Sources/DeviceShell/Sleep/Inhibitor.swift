internal import Linux
internal import SystemBus
internal import Vocabulary

/// One inhibitor lock of logind's, held while it is wanted
/// (https://www.freedesktop.org/software/systemd/man/systemd-inhibit.html). It ends with this
/// process, however that ends.
@safe
final class Inhibitor: ServiceBus.Client {
    /// Who holds it, for people.
    static let name = "Offstage"

    private let what: String
    private let mode: String
    private let why: String
    private var bus: Bus?
    private var logind: NameWatch?
    private var isWanted = false
    /// Nil: not held, or not yet.
    private var lock: FileDescriptor?
    private var isAsked = false
    /// Why it is not held; nil: it is, or is not wanted.
    private(set) var problem: String?

    /// The machine does not go to sleep by itself meanwhile. What the user does (the lid, the menu)
    /// is not refused.
    static func ofIdleSleep(_ why: String) -> Inhibitor { Inhibitor("idle", "block", why) }
    /// Sleep waits, at most for logind's InhibitDelayMaxSec.
    static func delayingSleep(_ why: String) -> Inhibitor { Inhibitor("sleep", "delay", why) }

    private init(_ what: String, _ mode: String, _ why: String) {
        (self.what, self.mode, self.why) = (what, mode, why)
    }

    func connected(_ bus: Bus) throws(BusError) {
        self.bus = bus
        ask()
        // It may come after us.
        logind = try NameWatch(ServiceRow.logind.name, on: bus) { [unowned self] isThere in
            if isThere { ask() }
        }
    }

    func disconnected() {
        // What is held stays so: logind waits for the descriptor to be closed.
        (bus, logind) = (nil, nil)
        isAsked = false
    }

    func hold(_ hold: Bool) {
        isWanted = hold
        if hold { ask() } else { lock = nil }
    }

    private func ask() {
        guard isWanted, lock == nil, !isAsked, let bus else { return }
        do throws(BusError) {
            try bus.descriptor(
                from: Target(
                    ServiceRow.logind.name,
                    Logind.manager.path,
                    Logind.manager.interface,
                    "Inhibit"
                ),
                [.string(what), .string(Self.name), .string(why), .string(mode)],
                signature: "ssss"
            ) { [unowned self] in answered($0) }
            isAsked = true
        } catch {
            problem = error.message
        }
    }

    private func answered(_ answer: Result<Int32, BusError>) {
        isAsked = false
        switch answer {
        case .success(let number):
            problem = nil
            let made = FileDescriptor(owning: number)
            if isWanted { lock = consume made }
        case .failure(let error): problem = error.message
        }
    }
}
