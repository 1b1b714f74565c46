internal import ClientCore
internal import Foundation
internal import Linux
internal import Vocabulary

/// The app's life, in the order in which Apple's delegates are told of it.
extension UIApplication {
    // MARK: Launching

    /// Returns never: the main thread serves its run loop, so that the main queue, the main actor
    /// and `OperationQueue.main` are all it.
    func run(
        _ delegate: @autoclosure @MainActor () -> (any UIApplicationDelegate)?
    ) -> Never {
        // A suspended app flushes nothing, and one that is ended never will.
        CurrentProcess.printByLines()
        session.watchTermination()
        launch(delegate())
        while true { RunLoop.main.run() }
    }

    /// The delegate is made when the app knows where it is: its `init()` may ask.
    func launch(_ delegate: @autoclosure @MainActor () -> (any UIApplicationDelegate)?) {
        listen()
        let greeting = session.greet()
        session.began(inBackground: greeting?.isInBackground ?? false)
        if let greeting {
            backgroundRefreshStatus = UIBackgroundRefreshStatus(greeting.backgroundRefresh)
            if greeting.isInBackground { (applicationState, isUnseen) = (.background, true) }
        }
        self.delegate = delegate()
        finishLaunching(opening: (greeting?.urls ?? []).compactMap { URL(string: $0) })
        appear(session.finishedLaunching())
    }

    /// `greeting`: the last one, which may have come while the app launched.
    private func appear(_ greeting: Greeting?) {
        guard let greeting else { return becomeActive() }
        if greeting.isInBackground {
            enterBackground()
        } else if applicationState == .background {
            becomeActive()
        }
        // The daemon tells an app of its own when its user is there.
    }

    private func finishLaunching(opening urls: [URL]) {
        // A scene has them in the options of its connection.
        let isTold = !hasUsualSceneDelegate
        let options = isTold ? urls.first.map { [LaunchOptionsKey.url: $0 as Any] } : nil
        let mayOpen = [
            delegate?.application(self, willFinishLaunchingWithOptions: options),
            delegate?.application(self, didFinishLaunchingWithOptions: options),
        ]
        post(Self.didFinishLaunchingNotification)
        unopened = urls
        guard applicationState != .background else { return }
        connectFirstScene()
        for scene in scenes { scene.enterForeground() }
        if !scenes.isEmpty { post(Self.willEnterForegroundNotification) }
        // So an app says that it has opened them, or never will.
        if mayOpen.contains(false) { unopened = [] }
        openURLs()
    }

    private func listen() {
        session.set(
            ApplicationEvents(
                enterBackground: onMain {
                    // The daemon tells this only of a user, who came and left before it launched.
                    if $0.isUnseen, $1 != .none { $0.enterForeground() }
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
                openURLs: onMain { $0.take($1) },
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
        if scenes.isEmpty { delegate?.applicationDidBecomeActive(self) }
        for scene in scenes { scene.becomeActive() }
        post(Self.didBecomeActiveNotification)
    }

    private func enterForeground() {
        guard applicationState == .background else { return }
        isUnseen = false
        connectFirstScene()
        if scenes.isEmpty { delegate?.applicationWillEnterForeground(self) }
        for scene in scenes { scene.enterForeground() }
        applicationState = .inactive
        post(Self.willEnterForegroundNotification)
        openURLs()
    }

    private func enterBackground() {
        guard applicationState != .background else { return }
        if applicationState == .active {
            if scenes.isEmpty { delegate?.applicationWillResignActive(self) }
            for scene in scenes { scene.resignActive() }
            applicationState = .inactive
            post(Self.willResignActiveNotification)
        }
        applicationState = .background
        if scenes.isEmpty { delegate?.applicationDidEnterBackground(self) }
        for scene in scenes { scene.enterBackground() }
        post(Self.didEnterBackgroundNotification)
    }

    // MARK: Addresses

    /// The daemon tells them before the app comes to the foreground; the app hears of them there.
    private func take(_ opening: OpenedURLs) {
        unopened += opening.urls.compactMap { URL(string: $0) }
        unanswered.append(opening.number)
        if applicationState != .background { openURLs() }
    }

    private func openURLs() {
        let (urls, numbers) = (unopened, unanswered)
        (unopened, unanswered) = ([], [])
        if let scene = scenes.first {
            let contexts = Set(urls.map { UIOpenURLContext($0) })
            if !contexts.isEmpty { scene.delegate?.scene(scene, openURLContexts: contexts) }
        } else {
            for url in urls { _ = delegate?.application(self, open: url, options: [:]) }
        }
        for number in numbers { session.answer(number) }
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
        let gone = scenes
        scenes = []
        for scene in gone { scene.disconnect() }
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
