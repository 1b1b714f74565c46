import AppProtocol
import Linux
import SystemBus
import TestKit
import Vocabulary

/// Given when a daemon is there again, or there is room again: whoever waits for that goes on.
final class RetrySignal: Sendable {
    private let counter: EventCounter

    init() throws { counter = try EventCounter() }

    func signal() { counter.signal() }

    /// False: it is over, the other descriptor can be read.
    func wait(unless over: Int32) throws -> Bool {
        let ready = try Poll.wait(for: [
            (counter.descriptor.number, .readable), (over, .readable),
        ])
        if !ready[0].isEmpty { counter.clear() }
        return ready[1].isEmpty
    }
}

/// One client. It asks again, with the same words, for what it got no answer to, and writes down
/// what it was told and when.
final class Caller {
    /// Where the daemon is found.
    struct Place: Sendable {
        var socket: String
        var scratch: String
        var user: User?
    }

    let place: Place
    private let ledger: Ledger
    private let retrySignal: RetrySignal
    /// Readable once no more faults come: what is left is to be brought to an end.
    private let over: Int32
    private(set) var isOver = false
    private var bus: Bus?
    var random: SeededRandom

    init(_ place: Place, _ ledger: Ledger, _ retrySignal: RetrySignal, over: Int32, seed: UInt64) {
        (self.place, self.ledger, self.retrySignal, self.over) = (place, ledger, retrySignal, over)
        random = SeededRandom(seed: seed)
    }

    func chance(_ part: Int, in whole: Int) -> Bool { random.below(whole) < part }

    func any<Element>(of list: [Element]) -> Element { list[random.below(list.count)] }

    /// Until the next daemon; false once it is over.
    func rest() throws -> Bool {
        if !isOver { isOver = try !retrySignal.wait(unless: over) }
        return !isOver
    }

    /// Asks until there is an answer. What was promised by it goes into the ledger.
    @discardableResult
    func ask(_ asked: Asked?, _ method: String, _ arguments: Value...) throws -> Answer {
        let from = Clocks.boot()
        var attempts = 0
        var lastTries = 20
        var answer = Answer.none
        while answer == .none {
            attempts += 1
            answer = send(method, arguments)
            guard answer == .none else { break }
            bus = nil
            // Once it is over nobody kills the daemon any more.
            if try !rest() {
                lastTries -= 1
                if lastTries == 0 { break }
            }
        }
        guard let asked else { return answer }
        ledger.add(
            Ledger.Entry(
                asked: asked,
                from: from,
                until: answer == .none ? .distantFuture : Clocks.boot(),
                answer: answer,
                attempts: attempts
            )
        )
        return answer
    }

    private func send(_ method: String, _ arguments: [Value]) -> Answer {
        do {
            let bus = try connection()
            let target = Target(Control1.busName, Control1.path, Control1.name, method)
            let signature = Control1.interface.method(method)?.inputSignature ?? ""
            _ = try bus.call(target, arguments, signature: signature, timeout: .seconds(60))
            return .done
        } catch let error as BusError {
            guard case .refused(let name) = error.reason else { return .none }
            return .refused(name)
        } catch {
            return .none
        }
    }

    private func connection() throws -> Bus {
        if let bus, bus.isOpen { return bus }
        let made = try Command.acting(as: place.user) {
            try Bus.connect(toSocket: place.socket, timeout: .seconds(60))
        }
        bus = made
        return made
    }

    /// Asks for a command.
    @discardableResult
    func submit(_ work: Work) throws -> Answer {
        let command = Job.command(work.manner, work.token)
        var options: ValueMap = [
            "kind": .string(work.isProcessing ? "processing" : "refresh"),
            "id": .string(work.name), "token": .string(work.token),
            "directory": .string(place.scratch + "/home"),
            "command": .list(command.map { .string($0) }),
        ]
        for (need, name) in [(Hold.power, "power"), (.network, "network"), (.metered, "unmetered")]
        where work.needs.contains(need) { options[name] = true }
        if let after = work.after { options["after"] = .double(after.seconds) }
        return try ask(.submit(work), "Submit", .map(options))
    }

    @discardableResult
    func cancel(_ work: Work) throws -> Answer {
        try ask(.cancel(work.name), "Cancel", .string(work.app), [:])
    }

    /// What a full disk refused is asked for again when there may be room.
    func insist(_ body: () throws -> Answer) throws {
        while try body() == .storage, try rest() {}
    }
}
