import AppProtocol
import ClientCore
import DeviceCore
import Vocabulary

/// What its user opens it for, an app is told: each URL once, and no other. Only a process that
/// ends takes with it what it has not been told.
final class OpenedOnce: CallInvariant, ClientInvariant {
    let name = "an app is told once what it is opened for"
    /// Who is not answered yet.
    private var asked: [ReplyToken: (app: AppID, urls: [String])] = [:]
    /// All that was ever asked: each URL is another one.
    private var wanted: [String: AppID] = [:]
    private var told: Set<String> = []
    /// What was taken for a launch, and not told.
    private var due: [(launch: LaunchID, url: String)] = []

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        guard case .user(.open(let app, _, let urls), _) = event, !urls.isEmpty else { return }
        asked[token] = (app, urls)
        for url in urls { wanted[url] = app }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        guard let call = asked.removeValue(forKey: token), case .opened(let opened) = reply else {
            return
        }
        for url in call.urls where !told.contains(url) { due.append((opened.launch, url)) }
    }

    func took(_ event: ClientEvent, _ client: VirtualClient, _ world: World) {}

    func performed(_ effect: ClientEffect, _ client: VirtualClient, _ world: World) -> String? {
        switch effect {
        // The app reads what it waited for; what is greeted besides tells where it is.
        case .answer(_, .success(.greeting(let greeting))):
            hears(greeting.urls ?? [], client.process.appID)
        case .openURLs(let urls, _): hears(urls, client.process.appID)
        case .connect, .watch, .send, .reply, .refuse, .armTicker, .answer, .giveUp, .answerLate,
            .reachable, .unreachable, .greeted, .run, .expire, .expireTask, .enterBackground,
            .enterForeground, .becomeActive, .memoryWarning, .changed, .conditionsChanged,
            .conditions,
            .taskEnded, .taskProgressed, .taskAsked, .log:
            nil
        }
    }

    private func hears(_ urls: [String], _ app: AppID) -> String? {
        for url in urls {
            guard wanted[url] == app else {
                return "\(app) is told of \(url), for which nobody opened it"
            }
            guard told.insert(url).inserted else { return "\(app) is told of \(url) twice" }
            due.removeAll { $0.url == url }
        }
        return nil
    }

    func idled(_ world: World) -> String? {
        due.removeAll { due in world.process(due.launch)?.isDead ?? true }
        for process in world.processes {
            guard let client = process.clients.first, client.isListening(world),
                process.link.hasFinishedLaunching,
                let missed = due.first(where: { $0.launch == process.launch })
            else { continue }
            return "launch \(process.launch) was opened for \(missed.url), and is not told"
        }
        return nil
    }
}
