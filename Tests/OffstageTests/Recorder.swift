import Foundation
@testable import Offstage
import Synchronization

/// A delegate that writes down what it is told.
final class Recorder: UIResponder, UIApplicationDelegate {
    /// `name state`, in the order in which it happened.
    let lines = Inbox<String>()
    /// What the next fetches are answered with, or kept for the test.
    let fetches = Inbox<@Sendable (UIBackgroundFetchResult) -> Void>()
    /// Runs while the app enters the background.
    var leaving: () -> Void = {}

    private func record(_ name: String, _ application: UIApplication) {
        lines.put("\(name) \(application.applicationState)")
    }

    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        record("willFinishLaunching", application)
        return true
    }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        record("didFinishLaunching", application)
        if let url = launchOptions?[.url] as? URL { lines.put("launched for \(url)") }
        return opensAtLaunch
    }

    func applicationDidBecomeActive(_ application: UIApplication) {
        record("didBecomeActive", application)
    }

    func applicationWillResignActive(_ application: UIApplication) {
        record("willResignActive", application)
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        record("didEnterBackground", application)
        leaving()
    }

    func applicationWillEnterForeground(_ application: UIApplication) {
        record("willEnterForeground", application)
    }

    /// Whether launching opens what it was launched for.
    var opensAtLaunch = true

    func application(
        _ app: UIApplication,
        open url: URL,
        options: [UIApplication.OpenURLOptionsKey: Any]
    ) -> Bool {
        record("open \(url)", app)
        return true
    }

    func applicationDidReceiveMemoryWarning(_ application: UIApplication) {
        record("memoryWarning", application)
    }

    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler:
            @escaping (UIBackgroundFetchResult) -> Void
    ) {
        record("fetch", application)
        fetches.put(Completion(completionHandler).call)
    }

    /// `@unchecked Sendable`: the library takes the call on any thread, as Apple's.
    private struct Completion: @unchecked Sendable {
        let body: (UIBackgroundFetchResult) -> Void
        init(_ body: @escaping (UIBackgroundFetchResult) -> Void) { self.body = body }
        @Sendable func call(_ result: UIBackgroundFetchResult) { body(result) }
    }
}

/// An app in this process, with a recording delegate and the notifications that it posts.
@MainActor
final class TestApp {
    let application: UIApplication
    let recorder = Recorder()
    private var observers: [any NSObjectProtocol] = []

    init(_ session: AppSession, launching: Bool = true) {
        application = UIApplication(session)
        let names = [
            UIApplication.didFinishLaunchingNotification,
            UIApplication.didBecomeActiveNotification,
            UIApplication.willResignActiveNotification,
            UIApplication.didEnterBackgroundNotification,
            UIApplication.willEnterForegroundNotification,
            UIApplication.didReceiveMemoryWarningNotification,
            UIApplication.backgroundRefreshStatusDidChangeNotification,
        ]
        let lines = recorder.lines
        for name in names {
            observers.append(
                NotificationCenter.default.addObserver(
                    forName: name,
                    object: application,
                    queue: nil
                ) { _ in
                    MainActor.preconditionIsolated()
                    lines.put("posted \(name.rawValue.dropFirst(13).dropLast(12))")
                }
            )
        }
        if launching { application.launch(recorder) }
    }

    isolated deinit {
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }
}
