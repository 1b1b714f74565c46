// UIKit without windows: the application, its delegate, its scenes.
extension SymbolTable {
    static let application: [Symbol] =
        .all(
            [
                "UIApplication", "UIResponder", "UIApplicationDelegate",
                "UIBackgroundTaskIdentifier", "UIBackgroundFetchResult",
                "UIBackgroundRefreshStatus", "applicationState", "backgroundTimeRemaining",
                "beginBackgroundTask", "endBackgroundTask", "setMinimumBackgroundFetchInterval",
                "backgroundRefreshStatus", "isIdleTimerDisabled",
            ],
            .name,
            .here
        )
        + .all(
            [
                "UIApplication.State", "UIApplication.LaunchOptionsKey",
                "UIApplication.backgroundFetchIntervalMinimum",
                "UIApplication.backgroundFetchIntervalNever",
                "UIApplication.didFinishLaunchingNotification",
                "UIApplication.didBecomeActiveNotification",
                "UIApplication.willResignActiveNotification",
                "UIApplication.didEnterBackgroundNotification",
                "UIApplication.willEnterForegroundNotification",
                "UIApplication.willTerminateNotification",
                "UIApplication.didReceiveMemoryWarningNotification",
                "UIApplication.backgroundRefreshStatusDidChangeNotification",
            ],
            .path,
            .here
        )
        + launchOptions + applicationElsewhere

    private static let launchOptions: [Symbol] =
        .all(
            [
                "UIApplication.LaunchOptionsKey.remoteNotification",
                "UIApplication.LaunchOptionsKey.location",
                "UIApplication.LaunchOptionsKey.shortcutItem",
                "UIApplication.LaunchOptionsKey.userActivityDictionary",
                "UIApplication.LaunchOptionsKey.sourceApplication",
            ],
            .path,
            .differs,
            "It compiles, and no launch has it yet.",
            implicit: .key("launchOptions")
        )
        + .all(
            ["UIApplication.LaunchOptionsKey.url"],
            .path,
            .here,
            implicit: .key("launchOptions")
        )

    private static let openText = "An app does not open addresses for its user here."
    private static let openReplacement = "Run xdg-open, or call OpenURI of the desktop's portal."
    private static let compareTimes = "Compare Calendar.current when the app becomes active."

    private static let applicationElsewhere: [Symbol] =
        .all(
            ["applicationIconBadgeNumber"],
            .name,
            .notYet,
            "No desktop is told of a badge.",
            instead: "Leave it out."
        )
        + .all(
            ["UIApplication.shared.open"],
            .path,
            .never,
            openText,
            instead: openReplacement
        )
        + .all(["canOpenURL"], .name, .never, openText, instead: openReplacement)
        + .all(
            ["openSettingsURLString", "openNotificationSettingsURLString"],
            .name,
            .never,
            "There is no page of settings for an app.",
            instead: "Name \"offstage set\" and the desktop's own settings to the user."
        )
        + .all(
            ["extendStateRestoration", "completeStateRestoration", "UIStateRestoring"],
            .name,
            .notYet,
            "No state is kept for an app that is terminated.",
            instead: "Keep it in a file."
        )
        + .all(
            ["UIApplication.significantTimeChangeNotification"],
            .path,
            .notYet,
            "It is not posted.",
            instead: compareTimes
        )

    static let delegate: [Symbol] =
        .all(
            [
                "application(_:willFinishLaunchingWithOptions:)",
                "application(_:didFinishLaunchingWithOptions:)",
                "applicationDidFinishLaunching(_:)",
                "applicationDidBecomeActive(_:)", "applicationWillResignActive(_:)",
                "applicationDidEnterBackground(_:)", "applicationWillEnterForeground(_:)",
                "applicationWillTerminate(_:)", "applicationDidReceiveMemoryWarning(_:)",
                "application(_:performFetchWithCompletionHandler:)",
                "applicationPerformFetch(_:)",
                "application(_:handleEventsForBackgroundURLSession:completionHandler:)",
                "application(_:handleEventsForBackgroundURLSession:)",
                "application(_:configurationForConnecting:options:)",
                "application(_:didDiscardSceneSessions:)", "application(_:open:options:)",
            ],
            .method,
            .here
        )
        + .all(
            [
                "application(_:continue:restorationHandler:)",
                "application(_:willContinueUserActivityWithType:)",
                "application(_:didUpdate:)",
            ],
            .method,
            .differs,
            "It compiles, and nobody calls it: no activity comes from elsewhere."
        )
        + .all(
            ["application(_:performActionFor:completionHandler:)"],
            .method,
            .differs,
            "It compiles, and nobody calls it: there is no home screen with quick actions."
        )
        + .all(
            [
                "applicationProtectedDataWillBecomeUnavailable(_:)",
                "applicationProtectedDataDidBecomeAvailable(_:)",
            ],
            .method,
            .notYet,
            "It compiles, and nobody calls it: files are not protected by a lock yet.",
            instead: "Submit work that is possible at any time."
        )
        + .all(
            ["applicationSignificantTimeChange(_:)"],
            .method,
            .notYet,
            "It compiles, and nobody calls it.",
            instead: compareTimes
        )
        + .all(
            ["application(_:supportedInterfaceOrientationsFor:)"],
            .method,
            .never,
            "It is about windows, which a toolkit of your choice draws.",
            instead: "Leave it out."
        )
        + .all(
            [
                "application(_:shouldSaveSecureApplicationState:)",
                "application(_:shouldRestoreSecureApplicationState:)",
                "application(_:willEncodeRestorableStateWith:)",
                "application(_:didDecodeRestorableStateWith:)",
            ],
            .method,
            .notYet,
            "No state is kept for an app that is terminated.",
            instead: "Keep it in a file."
        )

    static let scenes: [Symbol] =
        .all(
            [
                "UIScene", "UIWindowScene", "UISceneSession", "UISceneConfiguration",
                "UISceneDelegate", "UIWindowSceneDelegate", "UIOpenURLContext", "connectedScenes",
                "UISceneDestructionRequestOptions", "UISceneError", "requestSceneSessionActivation",
                "requestSceneSessionDestruction", "openSessions", "supportsMultipleScenes",
            ],
            .name,
            .here
        )
        + .all(["UIWindow"], .name, .differs, "It compiles, and shows nothing.")
        + .all(
            ["rootViewController", "makeKeyAndVisible"],
            .name,
            .never,
            "Windows are drawn by a toolkit of your choice.",
            instead: "Remove what builds the window, or put #if !os(Linux) around it."
        )
        + windows + activities
        + .all(
            [
                "scene(_:willConnectTo:options:)", "sceneDidDisconnect(_:)",
                "sceneDidBecomeActive(_:)",
                "sceneWillResignActive(_:)", "sceneDidEnterBackground(_:)",
                "sceneWillEnterForeground(_:)", "scene(_:openURLContexts:)",
            ],
            .method,
            .here
        )
        + .all(
            ["requestSceneSessionRefresh"],
            .name,
            .notYet,
            "The pictures of the switcher are not asked for yet.",
            instead: "Leave it out."
        )
        + .all(
            ["UIScene.ConnectionOptions.notificationResponse"],
            .path,
            .notYet,
            "No notification opens an app yet.",
            instead: "Put #if !os(Linux) around it.",
            implicit: .variable("connectionOptions")
        )

    /// What looks for a window, or is felt or seen on the device.
    private static let windows: [Symbol] =
        .all(
            ["UIApplication.shared.windows", "UIApplication.shared.keyWindow"],
            .path,
            .never,
            "Windows are drawn by a toolkit of your choice.",
            instead: "Remove it, or put #if !os(Linux) around it."
        )
        + .all(
            ["UIWindowScene.windows", "UIWindowScene.keyWindow"],
            .path,
            .never,
            "Windows are drawn by a toolkit of your choice.",
            instead: "Remove it, or put #if !os(Linux) around it.",
            implicit: .variable("windowScene")
        )
        + .all(
            ["UIScreen"],
            .name,
            .never,
            "Screens belong to the toolkit that draws.",
            instead: "Remove it, or put #if !os(Linux) around it."
        )
        + .all(
            [
                "UIImpactFeedbackGenerator", "UINotificationFeedbackGenerator",
                "UISelectionFeedbackGenerator", "UIFeedbackGenerator",
            ],
            .name,
            .never,
            "Nothing shakes the device.",
            instead: "Remove it, or put #if !os(Linux) around it."
        )

    /// What leads into an app on iOS, and here is only for the app itself, or for nobody.
    private static let activities: [Symbol] =
        .all(
            [
                "NSUserActivity", "NSUserActivityTypeBrowsingWeb", "UIUserActivityRestoring",
                "handoffUserActivityType",
            ],
            .name,
            .differs,
            "It compiles. An activity comes from the app itself, and goes to its own scenes."
        )
        + .all(
            ["scene(_:continue:)"],
            .method,
            .differs,
            "It is called for activities of the app's own only."
        )
        + .all(
            [
                "scene(_:willContinueUserActivityWithType:)", "scene(_:didUpdate:)",
                "stateRestorationActivity(for:)",
            ],
            .method,
            .differs,
            "It compiles, and nobody calls it."
        )
        + .all(
            ["UIApplicationShortcutItem"],
            .name,
            .differs,
            "It compiles. There is no home screen with quick actions."
        )
        + .all(
            ["UIScene.ConnectionOptions.shortcutItem"],
            .path,
            .differs,
            "It compiles, and is always nil: there is no home screen with quick actions.",
            implicit: .variable("connectionOptions")
        )
        + .all(
            ["windowScene(_:performActionFor:completionHandler:)"],
            .method,
            .differs,
            "It compiles, and nobody calls it: there is no home screen with quick actions."
        )

    static let device: [Symbol] =
        .all(
            [
                "UIDevice", "isBatteryMonitoringEnabled", "isLowPowerModeEnabled",
                "NSProcessInfoPowerStateDidChange", "NWPathMonitor", "NWPath", "NWInterface",
            ],
            .name,
            .here
        )
        + .all(
            [
                "UIDevice.current.batteryLevel", "UIDevice.current.batteryState",
                "UIDevice.batteryLevelDidChangeNotification",
                "UIDevice.batteryStateDidChangeNotification",
                "ProcessInfo.processInfo.thermalState",
                "ProcessInfo.thermalStateDidChangeNotification",
            ],
            .path,
            .here
        )
        + deviceElsewhere

    private static let deviceElsewhere: [Symbol] =
        .all(
            ["UIDevice.current.identifierForVendor"],
            .path,
            .never,
            "A device has no number for one vendor.",
            instead: "Make a UUID at the first launch, and keep it in a file."
        )
        + .all(
            ["UIDevice.current.userInterfaceIdiom"],
            .path,
            .never,
            "A program for Linux is not made for one kind of screen.",
            instead: "Leave it out."
        )
        + .all(
            [
                "UIDevice.current.orientation", "UIDevice.current.isProximityMonitoringEnabled",
                "UIDevice.orientationDidChangeNotification",
            ],
            .path,
            .notYet,
            "No sensor is asked yet.",
            instead: "Leave it out; iio-sensor-proxy knows how a device is held."
        )
        + .all(
            ["supportsIPv4", "supportsIPv6", "supportsDNS"],
            .name,
            .never,
            "Nobody says it of a network here.",
            instead: "Leave it out: a connection that fails says it."
        )
        + .all(
            ["NWConnection", "NWListener", "NWEndpoint", "NWParameters", "NWBrowser"],
            .name,
            .never,
            "Only the state of the network is here.",
            instead: "Use sockets, or a package such as swift-nio."
        )
}
