internal import Foundation
internal import Linux
internal import Vocabulary

/// The app's life, in the order in which Apple's delegates are told of it.
extension UIApplication {
    // MARK: Launching

    /// Returns never: the main thread serves its run loop, so that the main queue, the main actor
    /// and `OperationQueue.main` are all it.
    func run(_ delegate: any UIApplicationDelegate) {
        // A suspended app flushes nothing, and one that is ended never will.
        CurrentProcess.printByLines()
        session.watchTermination()
        launch(delegate)
        while true { RunLoop.main.run() }
    }

    func launch(_ delegate: any UIApplicationDelegate) {
        self.delegate = delegate
        listen()
        let greeting = session.greet()
        session.began(inBackground: greeting?.isInBackground ?? false)
        if let greeting {
            backgroundRefreshStatus = UIBackgroundRefreshStatus(greeting.backgroundRefresh)
            if greeting.isInBackground { applicationState = .background }
        }
        _ = delegate.application(self, willFinishLaunchingWithOptions: nil)
        _ = delegate.application(self, didFinishLaunchingWithOptions: nil)
        post(Self.didFinishLaunchingNotification)
        session.finishedLaunching()
        // The daemon tells an app of its own when its user is there.
        if greeting == nil { becomeActive() }
    }

    private func listen() {
        session.set(
            ApplicationEvents(
                enterBackground: onMain {
                    $0.enterBackground()
                    $0.session.enteredBackground($1)
                },
                enterForeground: onMain {
                    $0.enterForeground()
                    $0.session.answer($1)
                },
                becomeActive: onMain {
                    $0.becomeActive()
                    $0.session.answer($1)
                },
                memoryWarning: onMain { $0.memoryWarning() },
                changed: onMain { $0.changed(UIBackgroundRefreshStatus($1)) },
                fetch: onMain { $0.fetch($1) },
                handleEvents: onMain { $0.handleEvents($1) },
                willTerminate: onMain {
                    $0.willTerminate()
                    Termination.end()
                }
            )
        )
    }

    private func onMain(
        _ body: @escaping @MainActor @Sendable (UIApplication) -> Void
    ) -> @Sendable () -> Void {
        { [weak self] in
            DispatchQueue.main.async {
                MainActor.assumeIsolated { if let self { body(self) } }
            }
        }
    }

    private func onMain<Input: Sendable>(
        _ body: @escaping @MainActor @Sendable (UIApplication, Input) -> Void
    ) -> @Sendable (Input) -> Void {
        { [weak self] input in
            DispatchQueue.main.async {
                MainActor.assumeIsolated { if let self { body(self, input) } }
            }
        }
    }

    private func post(_ name: NSNotification.Name) {
        NotificationCenter.default.post(name: name, object: self)
    }

    // MARK: The user comes and goes

    private func becomeActive() {
        // One that was launched in the background, and is opened now.
        if applicationState == .background { enterForeground() }
        guard applicationState != .active else { return }
        applicationState = .active
        delegate?.applicationDidBecomeActive(self)
        post(Self.didBecomeActiveNotification)
    }

    private func enterForeground() {
        guard applicationState == .background else { return }
        delegate?.applicationWillEnterForeground(self)
        applicationState = .inactive
        post(Self.willEnterForegroundNotification)
    }

    private func enterBackground() {
        guard applicationState != .background else { return }
        if applicationState == .active {
            delegate?.applicationWillResignActive(self)
            applicationState = .inactive
            post(Self.willResignActiveNotification)
        }
        applicationState = .background
        delegate?.applicationDidEnterBackground(self)
        post(Self.didEnterBackgroundNotification)
    }

    // MARK: What else it is told

    private func memoryWarning() {
        delegate?.applicationDidReceiveMemoryWarning(self)
        post(Self.didReceiveMemoryWarningNotification)
    }

    private func changed(_ status: UIBackgroundRefreshStatus) {
        guard status != backgroundRefreshStatus else { return }
        backgroundRefreshStatus = status
        post(Self.backgroundRefreshStatusDidChangeNotification)
    }

    private func willTerminate() {
        delegate?.applicationWillTerminate(self)
        post(Self.willTerminateNotification)
    }

    private func handleEvents(_ run: SessionRun) {
        if let delegate {
            let completion = EventsCompletion(run)
            delegate.application(
                self,
                handleEventsForBackgroundURLSession: run.work.identifier
            ) { completion.call() }
        }
        session.handledEvents(run)
    }

    private func fetch(_ run: FetchRun) {
        guard let delegate else { return run.complete(.noData) }
        let completion = FetchCompletion(run)
        delegate.application(self) { completion.call($0) }
    }
}

/// Who can complete a launch for the events of a session.
private final class EventsCompletion: Sendable {
    private let run: SessionRun

    init(_ run: SessionRun) { self.run = run }

    deinit { run.wasFreed() }

    func call() { run.complete() }
}

/// Who can complete a fetch: as long as the app keeps the handler, this lives.
private final class FetchCompletion: Sendable {
    private let run: FetchRun

    init(_ run: FetchRun) { self.run = run }

    deinit { run.wasFreed() }

    func call(_ result: UIBackgroundFetchResult) { run.complete(result.result) }
}
