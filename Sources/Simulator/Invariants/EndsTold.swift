import AppProtocol
import ClientCore
import DeviceCore
import Vocabulary

/// The library reports the result of a handler to each new daemon until one has acknowledged it,
/// and never after that.
final class EndsTold: ClientInvariant, ProcessInvariant {
    let name = "the end of a handler is told until it is known"
    private var begun: Set<DeliveryID> = []
    private var running: Set<DeliveryID> = []
    private var results: [DeliveryID: TaskResult] = [:]
    /// Ends that no daemon has answered for.
    private var open: [End] = []
    private var known: Set<DeliveryID> = []
    /// Calls that tell ends, and have no answer.
    private var telling: [Telling] = []
    private var fault: String?

    private struct End {
        let delivery: DeliveryID
        let launch: LaunchID
        /// How long its process had run by then.
        let at: Interval
    }

    private struct Telling {
        let client: VirtualClient.Number
        let number: CallNumber
        let isHello: Bool
        let ends: [DeliveryID]
    }

    func rebooted() { open.removeAll() }

    func took(_ event: ClientEvent, _ client: VirtualClient, _ world: World) {
        switch event {
        case .complete(let id, let result):
            guard running.remove(id) != nil else { return }
            results[id] = result
            let at = client.process.runTime(at: world.clock.elapsed)
            open.append(End(delivery: id, launch: client.process.launch, at: at))
        case .answered(let number, let answer):
            guard let index = index(number, client.number) else { return }
            let told = telling.remove(at: index)
            // A hello that is refused has told nothing.
            if case .failure(let error) = answer, told.isHello || error.reason == .unreachable {
                return
            }
            known.formUnion(told.ends)
            open.removeAll { told.ends.contains($0.delivery) }
        case .disconnected: telling.removeAll { $0.client == client.number }
        case .greet, .finishedLaunching, .call, .lookAtDevice, .setIdleTimer, .done, .stop,
            .look, .connected, .notConnected, .called, .tick:
            break
        }
    }

    private func index(_ number: CallNumber, _ client: VirtualClient.Number) -> Int? {
        let telling = telling
        let span = telling.span
        for index in span.indices
        where span[index].number == number && span[index].client == client { return index }
        return nil
    }

    func performed(_ effect: ClientEffect, _ client: VirtualClient, _ world: World) -> String? {
        if case .run(let work) = effect {
            begun.insert(work.delivery)
            running.insert(work.delivery)
        }
        guard case .send(let number, let call) = effect else { return nil }
        let ends: [DeliveryID]
        switch call {
        case .hello(let hello): ends = (hello.finished ?? []).map(\.delivery)
        case .complete(let complete): ends = [complete.delivery]
        case .finishedLaunching, .expirationHandler, .setMinimumFetchInterval, .mistaken, .submit,
            .cancel, .pending, .beginTask, .endTask, .limits, .joinSession, .enqueueTasks,
            .changeTasks, .answerTask, .leaveSession, .watchConditions, .setIdleTimer:
            return nil
        }
        if !ends.isEmpty {
            let isHello = MessageKind(call) == .hello
            telling.append(
                Telling(client: client.number, number: number, isHello: isHello, ends: ends)
            )
        }
        guard let again = ends.first(where: { known.contains($0) }) else { return nil }
        return "the end of delivery \(again) is told after it was known"
    }

    func heard(_ event: Event) {
        switch event {
        case .app(_, .completed(let id, let result, _, _)): check(id, result)
        case .app(_, .reconnected(_, let finished, _, _)):
            for end in finished { check(end.delivery, end.result) }
        case .app, .process, .started, .timer, .clockChanged, .sleep, .manifests, .settings,
            .condition, .used, .triggered, .transfer, .user, .storageRecovered, .stopping:
            break
        }
    }

    private func check(_ id: DeliveryID, _ result: TaskResult) {
        guard begun.contains(id), results[id] != result else { return }
        let said = results[id].map { "\($0)" } ?? "nothing"
        fault = fault ?? "delivery \(id) is told as \(result), its handler said \(said)"
    }

    func ended(_ turn: Turn, _ world: World) -> String? { fault }

    func idled(_ world: World) -> String? {
        open.removeAll { world.process($0.launch)?.isDead ?? true }
        for end in open {
            guard let process = world.process(end.launch), let client = process.clients.first,
                client.isListening(world),
                process.runTime(at: world.clock.elapsed) - end.at > .seconds(20)
            else { continue }
            return "nobody knows of the end of delivery \(end.delivery) of launch \(end.launch)"
        }
        return nil
    }
}

extension VirtualClient {
    /// It runs and is connected, and nothing has come to either side for some seconds.
    func isListening(_ world: World) -> Bool {
        connection != nil && served.contains(connection ?? 0) && unread.isEmpty && !isGone
            && process.isRunning && !process.isToldToEnd && !process.link.stoppedReading
            && world.now.awake - process.talk.lastWord > .seconds(5)
            && world.clock.elapsed - lastArrival > .seconds(5)
    }
}
