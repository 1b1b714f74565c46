import AppProtocol
import ClientCore
import DeviceCore
import Vocabulary

/// Each caller of the library gets one answer: within the timeout of the call or, for a kept call,
/// from the daemon that receives it. A kept call is sent once on each connection, and not again
/// after its answer.
final class CallersAnswered: ClientInvariant {
    let name = "whoever calls is answered once"
    private var waiting: [Caller] = []
    private var sent: [SentKey: Sent] = [:]

    private struct Caller {
        let client: VirtualClient.Number
        let launch: LaunchID
        let token: CallerToken
        let isKept: Bool
        /// How long its process had run by then.
        let at: Interval
        var isGivenUp = false
    }

    private struct SentKey: Hashable {
        let client: VirtualClient.Number
        let number: CallNumber
    }

    private struct Sent {
        var connection: Int
        var isAnswered = false
    }

    /// That many ticks, and what may lie between two of them.
    private static let limit = Interval.seconds(13)

    func took(_ event: ClientEvent, _ client: VirtualClient, _ world: World) {
        switch event {
        case .greet(let token), .lookAtDevice(let token): wait(token, false, client, world)
        case .call(_, let persistence, let token):
            wait(token, persistence == .kept, client, world)
        case .answered(let number, _):
            sent[SentKey(client: client.number, number: number)]?.isAnswered = true
        case .disconnected, .finishedLaunching, .setIdleTimer, .complete, .done, .stop, .look,
            .connected, .notConnected, .called, .tick:
            break
        }
    }

    private func wait(
        _ token: CallerToken,
        _ isKept: Bool,
        _ client: VirtualClient,
        _ world: World
    ) {
        waiting.append(
            Caller(
                client: client.number,
                launch: client.process.launch,
                token: token,
                isKept: isKept,
                at: client.process.runTime(at: world.clock.elapsed)
            )
        )
    }

    func performed(_ effect: ClientEffect, _ client: VirtualClient, _ world: World) -> String? {
        switch effect {
        case .send(let number, let call): return sends(number, call, client)
        case .answer(let token, _):
            guard let index = index(token, client), !waiting[index].isGivenUp else {
                return "a caller of launch \(client.process.launch) is answered twice"
            }
            waiting.remove(at: index)
        case .giveUp(let token, _):
            guard let index = index(token, client), !waiting[index].isGivenUp else {
                return "a caller of launch \(client.process.launch) is given up twice"
            }
            waiting[index].isGivenUp = true
        case .answerLate(let token, _):
            guard let index = index(token, client), waiting[index].isGivenUp else {
                return "a caller of launch \(client.process.launch) is answered late, and waits"
            }
            waiting.remove(at: index)
        case .connect, .watch, .reply, .refuse, .armTicker, .reachable, .unreachable, .greeted,
            .run, .expire, .expireTask, .enterBackground, .enterForeground, .becomeActive,
            .memoryWarning, .changed, .conditions, .conditionsChanged, .taskEnded,
            .taskProgressed, .taskAsked, .log, .openURLs:
            break
        }
        return nil
    }

    private func index(_ token: CallerToken, _ client: VirtualClient) -> Int? {
        waiting.firstIndex { $0.token == token && $0.client == client.number }
    }

    private func sends(_ number: CallNumber, _ call: App1, _ client: VirtualClient) -> String? {
        let connection = client.connection ?? 0
        let key = SentKey(client: client.number, number: number)
        guard let before = sent.updateValue(Sent(connection: connection), forKey: key) else {
            return nil
        }
        if before.isAnswered {
            return "\(MessageKind(call)) is called again after it was answered"
        }
        if before.connection == connection {
            return "\(MessageKind(call)) is called twice on one connection"
        }
        return nil
    }

    func idled(_ world: World) -> String? {
        waiting.removeAll { world.process($0.launch)?.isDead ?? true }
        for caller in waiting where !caller.isGivenUp {
            guard let process = world.process(caller.launch), !process.link.stoppedReading,
                let client = process.clients.first(where: { $0.number == caller.client }),
                process.runTime(at: world.clock.elapsed) - caller.at > Self.limit,
                !caller.isKept || client.isListening(world)
            else { continue }
            return "a caller of launch \(caller.launch) waits for ever"
        }
        return nil
    }
}
