import AppProtocol
import Foundation
@testable import Offstage
import TestKit
import Testing
import Vocabulary

/// What an app with scenes is told, and what it may ask for.
struct SceneTests {
    private let daemon: BenchDaemon
    private let session: TestSession

    init() throws {
        daemon = try BenchDaemon()
        session = TestSession(daemon.socket)
    }

    private func launch(_ sceneDelegate: AnyClass? = RecordedScene.self) async -> SceneApp {
        await MainActor.run { SceneApp(session.session, sceneDelegate) }
    }

    /// Launched by its user, who is there.
    private func open() async throws -> SceneApp {
        let app = await launch()
        try daemon.next("FinishedLaunching")
        try daemon.tell("BecomeActive", [[:]])
        try #require(try app.lines(7).last == "posted DidActivate 1")
        return app
    }

    @Test func `each step of a scene is told to its delegate, then posted`() async throws {
        let app = await launch()
        #expect(
            try app.lines(5) == [
                "1 willConnect unattached", "posted WillConnect 1",
                "1 willEnterForeground background", "posted WillEnterForeground 1",
                "app posted WillEnterForeground",
            ]
        )
        try daemon.tell("BecomeActive", [[:]])
        #expect(
            try app.lines(2) == ["1 didBecomeActive foregroundActive", "posted DidActivate 1"]
        )
        try daemon.tell("EnterBackground", [[:]])
        #expect(
            try app.lines(4) == [
                "1 willResignActive foregroundActive", "posted WillDeactivate 1",
                "1 didEnterBackground background", "posted DidEnterBackground 1",
            ]
        )
        try daemon.tell("EnterForeground", [[:]])
        #expect(
            try app.lines(3) == [
                "1 willEnterForeground background", "posted WillEnterForeground 1",
                "app posted WillEnterForeground",
            ]
        )
        #expect(app.isQuiet)
    }

    @Test func `another scene is refused in the background, and comes in the foreground`()
        async throws
    {
        daemon.greet(["state": "background"])
        let app = await launch()
        let early = try await app.activate()
        #expect(early.code == .requestDenied)
        #expect(early.reason.contains("in the background"), "\(early.reason)")
        #expect(await !app.application.supportsMultipleScenes)
        try daemon.next("FinishedLaunching")
        try daemon.tell("BecomeActive", [[:]])
        _ = try app.lines(7)
        #expect(await app.application.supportsMultipleScenes)
        await app.ask(nil)
        #expect(try app.lines(6).first == "2 willConnect unattached")
    }

    @Test func `an app without scenes is refused another`() async throws {
        let app = await launch(nil)
        try daemon.next("FinishedLaunching")
        try daemon.tell("BecomeActive", [[:]])
        let error = try await app.activate()
        #expect(error.code == .multipleScenesNotSupported)
        #expect(error.reason.contains("configurationForConnecting"), "\(error.reason)")
        #expect(await app.application.connectedScenes.isEmpty)
        #expect(await app.sessions == ["1"])
    }

    private final class Unusable: NSObject {}

    @Test func `a scene whose delegate cannot be one is refused with the reason`() async throws {
        let app = try await open()
        await MainActor.run { app.delegate.sceneDelegate = Unusable.self }
        let error = try await app.activate()
        #expect(error.code == .requestDenied)
        #expect(error.reason.contains("Unusable cannot be the delegate of a scene"))
        #expect(await app.application.connectedScenes.count == 1)
    }

    @Test func `a scene that is there is told of the activity that it is asked for with`()
        async throws
    {
        let app = try await open()
        await app.ask(app.application.openSessions.first, "reading")
        #expect(try app.lines(1) == ["1 continue reading"])
        await app.ask(nil, "writing")
        #expect(try app.lines(2) == ["2 willConnect unattached", "2 is for writing"])
    }

    @Test func `the only scene stays, and one that is gone has no session`() async throws {
        let app = try await open()
        let first = await app.application.firstSession
        let error = try await app.destroy(first)
        #expect(error.code == .requestDenied && error.reason.contains("the only scene"))
        await app.ask(nil)
        _ = try app.lines(6)
        await MainActor.run {
            app.application.requestSceneSessionDestruction(first, options: nil)
        }
        #expect(
            try app.lines(7).suffix(3) == [
                "1 didDisconnect background", "posted DidDisconnect 1", "discarded 1",
            ]
        )
        #expect(await app.sessions == ["2"])
        // It may come again, as what it was; another one is the third.
        await app.ask(first)
        #expect(try app.lines(6).first == "1 willConnect unattached")
        await app.ask(nil)
        #expect(try app.lines(6).first == "3 willConnect unattached")
    }
}

/// An app in this process whose scenes write down what they are told.
@MainActor
private final class SceneApp {
    let application: UIApplication
    let delegate: Delegate
    private nonisolated let inbox: Inbox<String>
    private nonisolated let errors = Inbox<UISceneError>()
    private var observers: [any NSObjectProtocol] = []

    init(_ session: AppSession, _ sceneDelegate: AnyClass?) {
        application = UIApplication(session)
        delegate = Delegate(sceneDelegate)
        inbox = delegate.inbox
        observe()
        application.launch(delegate)
    }

    isolated deinit {
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }

    private func observe() {
        let names = [
            UIScene.willConnectNotification, UIScene.didDisconnectNotification,
            UIScene.didActivateNotification, UIScene.willDeactivateNotification,
            UIScene.willEnterForegroundNotification, UIScene.didEnterBackgroundNotification,
        ]
        for name in names {
            observe(name, of: nil) { [inbox] object in
                // Scenes of other tests post them too.
                guard let scene = object as? UIScene, scene.session.inbox === inbox else { return }
                inbox.put("posted \(name.rawValue.dropFirst(7).dropLast(12)) \(scene.name)")
            }
        }
        observe(UIApplication.willEnterForegroundNotification, of: application) { [inbox] _ in
            inbox.put("app posted WillEnterForeground")
        }
    }

    private func observe(
        _ name: NSNotification.Name,
        of object: Any?,
        _ body: @escaping @MainActor (Any?) -> Void
    ) {
        observers.append(
            NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) {
                let object = Posted(object: $0.object)
                MainActor.assumeIsolated { body(object.object) }
            }
        )
    }

    /// `@unchecked Sendable`: taken from the main thread to its actor.
    private struct Posted: @unchecked Sendable { let object: Any? }

    nonisolated func lines(_ count: Int) throws -> [String] {
        try (0..<count).map { _ in try inbox.next() }
    }

    nonisolated var isQuiet: Bool { inbox.isEmpty }

    var sessions: [String] { application.openSessions.map { $0.persistentIdentifier }.sorted() }

    func ask(_ session: UISceneSession?, _ activity: String? = nil) {
        application.requestSceneSessionActivation(
            session,
            userActivity: activity.map { NSUserActivity(activityType: $0) },
            options: nil
        ) { [errors] in if let error = $0 as? UISceneError { errors.put(error) } }
    }

    /// Why another scene is refused.
    nonisolated func activate() async throws -> UISceneError {
        await ask(nil)
        return try errors.next()
    }

    /// Why a scene stays.
    nonisolated func destroy(_ session: UISceneSession) async throws -> UISceneError {
        await MainActor.run {
            application.requestSceneSessionDestruction(session, options: nil) { [errors] in
                if let error = $0 as? UISceneError { errors.put(error) }
            }
        }
        return try errors.next()
    }
}

/// Gives each session what its scene writes to.
private final class Delegate: NSObject, UIApplicationDelegate {
    nonisolated let inbox = Inbox<String>()
    var sceneDelegate: AnyClass?

    init(_ sceneDelegate: AnyClass?) {
        self.sceneDelegate = sceneDelegate
        super.init()
    }

    func application(
        _ application: UIApplication,
        configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        connectingSceneSession.userInfo = ["inbox": inbox]
        let configuration = UISceneConfiguration(
            name: nil,
            sessionRole: connectingSceneSession.role
        )
        configuration.delegateClass = sceneDelegate
        return configuration
    }

    func application(
        _ application: UIApplication,
        didDiscardSceneSessions sceneSessions: Set<UISceneSession>
    ) {
        for session in sceneSessions { inbox.put("discarded \(session.persistentIdentifier)") }
    }
}

/// `SCENE METHOD STATE`, for each call.
private final class RecordedScene: NSObject, UIWindowSceneDelegate {
    private func record(_ method: String, _ scene: UIScene) {
        scene.session.inbox?.put("\(scene.name) \(method)")
    }

    private func state(_ method: String, _ scene: UIScene) {
        record("\(method) \(scene.activationState)", scene)
    }

    func scene(
        _ scene: UIScene,
        willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    ) {
        let activities = connectionOptions.userActivities.map { " " + $0.activityType }
        state("willConnect", scene)
        for activity in activities { record("is for" + activity, scene) }
    }

    func sceneDidDisconnect(_ scene: UIScene) { state("didDisconnect", scene) }
    func sceneDidBecomeActive(_ scene: UIScene) { state("didBecomeActive", scene) }
    func sceneWillResignActive(_ scene: UIScene) { state("willResignActive", scene) }
    func sceneWillEnterForeground(_ scene: UIScene) { state("willEnterForeground", scene) }
    func sceneDidEnterBackground(_ scene: UIScene) { state("didEnterBackground", scene) }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        record("continue \(userActivity.activityType)", scene)
    }
}

extension UIScene {
    fileprivate var name: String { session.persistentIdentifier }
}

extension UISceneSession {
    fileprivate var inbox: Inbox<String>? { userInfo?["inbox"] as? Inbox<String> }
}
