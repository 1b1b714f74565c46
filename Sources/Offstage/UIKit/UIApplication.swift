internal import AppProtocol
internal import ClientCore
public import Foundation
internal import Vocabulary

/// The app: where it is between launch and suspension, and the time that it may still use.
///
/// Made by `main()`. Without a daemon it is an app in the foreground, and stays there.
@preconcurrency
@MainActor
public class UIApplication: UIResponder {
    /// The app of this process.
    public class var shared: UIApplication { theOnly }
    private static let theOnly = UIApplication(.shared)

    /// Told of the app's life; kept.
    public var delegate: (any UIApplicationDelegate)?

    /// Where the app is. In a launch in the background it is ``State/background`` from the start.
    public internal(set) var applicationState = State.inactive

    /// Whether the app may be launched in the background. Without a daemon it is restricted.
    public internal(set) var backgroundRefreshStatus = UIBackgroundRefreshStatus.restricted

    /// Whether the screen stays on, though nobody touches the device, while the app is in the
    /// foreground: as for a film or a map.
    public var isIdleTimerDisabled = false {
        didSet { session.setIdleTimer(disabled: isIdleTimerDisabled) }
    }

    nonisolated let session: AppSession

    /// Whether it was launched in the background, and has been there only.
    var isUnseen = false
    /// Those that are connected, the first one first.
    var scenes: [UIScene] = []
    /// Of the scene that an app with scenes always has.
    let firstSession = UISceneSession("1")
    /// How many sessions there have been.
    var sceneCount = 1
    /// Whether it is known if the app has scenes.
    var hasLookedForScenes = false
    /// Addresses that are to be opened when the app comes to the foreground.
    var unopened: [URL] = []
    /// What is to be answered then.
    var unanswered: [IncomingNumber] = []

    init(_ session: AppSession) {
        self.session = session
        super.init()
    }

    // MARK: Fetching

    /// A fetch as often as the system sees fit: the least that
    /// ``setMinimumBackgroundFetchInterval(_:)`` can ask for.
    public nonisolated static let backgroundFetchIntervalMinimum: TimeInterval = 0

    /// No fetch at all, which is what holds for an app that never said anything.
    public nonisolated static let backgroundFetchIntervalNever = TimeInterval
        .greatestFiniteMagnitude

    /// Sets how long after each use and each fetch the app is not woken to fetch. It is kept: also
    /// when the app, or the device, starts again. It has no effect without the mode `fetch` in the
    /// manifest, and none when that lists task identifiers.
    ///
    /// - Parameter minimumBackgroundFetchInterval: Seconds, or one of the two constants.
    public func setMinimumBackgroundFetchInterval(
        _ minimumBackgroundFetchInterval: TimeInterval
    ) {
        let seconds = minimumBackgroundFetchInterval
        let isNever = seconds.isNaN || seconds >= Self.backgroundFetchIntervalNever
        session.ask(
            OutgoingCall(
                App1.SetMinimumFetchInterval { $0.seconds = isNever ? -1 : max(0, seconds) },
                .kept
            ) { answer in
                guard case .failure(let error) = answer else { return }
                LibraryLog.write("the fetch interval was not set: \(error.text)")
            }
        )
    }

    // MARK: Background tasks

    /// Seconds that the app may still run in the background.
    ///
    /// It means something in the background, while a background task or a wake is open. Else it
    /// is the greatest number there is.
    public nonisolated var backgroundTimeRemaining: TimeInterval {
        session.timeRemaining ?? .greatestFiniteMagnitude
    }

    /// Asks for time to finish something after the user has left; see
    /// ``beginBackgroundTask(withName:expirationHandler:)``.
    ///
    /// - Parameter handler: Called once, on the main thread, shortly before the time is over.
    /// - Returns: The task, or `invalid`.
    @discardableResult
    @preconcurrency
    public nonisolated func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        beginBackgroundTask(withName: nil, expirationHandler: handler)
    }

    /// Asks for time to finish something after the user has left.
    ///
    /// Begun in the foreground it has minutes, which count from when the user leaves; begun in a
    /// wake, seconds. It may be called on any thread and does not wait.
    ///
    /// - Parameters:
    ///   - taskName: For those who look at what the app does.
    ///   - handler: Called once, on the main thread, shortly before the time is over, or when
    ///     there is none to be had. An app that has not ended the task soon after is terminated.
    /// - Returns: The task, to be ended by ``endBackgroundTask(_:)``; `invalid` when there is no
    ///   daemon to give time.
    @discardableResult
    @preconcurrency
    public nonisolated func beginBackgroundTask(
        withName taskName: String?,
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        let expired = handler.map { handler in
            { @Sendable in
                DispatchQueue.main.async { MainActor.assumeIsolated { handler() } }
            }
        }
        return UIBackgroundTaskIdentifier(
            rawValue: session.beginTask(taskName ?? "", expired: expired)
        )
    }

    /// Gives time back. With its last task the app is suspended.
    ///
    /// - Parameter identifier: What the beginning answered; an unknown one is logged.
    public nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
        guard !session.endTask(identifier.rawValue) else { return }
        LibraryLog.write(
            identifier == .invalid
                ? "the invalid background task was ended (only a valid one is to be ended)"
                : "background task \(identifier.rawValue) was ended that was not begun, or was "
                    + "ended before"
        )
    }
}
