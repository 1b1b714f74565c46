// Push, calls, notifications, places, keys: what later versions are for.
extension SymbolTable {
    private static let whenThere = "Put #if !os(Linux) around it."

    static let push: [Symbol] =
        .all(
            [
                "registerForRemoteNotifications", "unregisterForRemoteNotifications",
                "isRegisteredForRemoteNotifications",
            ],
            .name,
            .notYet,
            "Apps get no pushes yet; a device and its gateway exist.",
            instead: whenThere
        )
        + .all(
            [
                "application(_:didRegisterForRemoteNotificationsWithDeviceToken:)",
                "application(_:didFailToRegisterForRemoteNotificationsWithError:)",
                "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)",
                "application(_:didReceiveRemoteNotification:)",
            ],
            .method,
            .notYet,
            "It compiles, and nobody calls it: apps get no pushes yet.",
            instead: whenThere + " A refresh looks for news meanwhile."
        )
        + .all(
            [
                "PKPushRegistry", "PKPushRegistryDelegate", "PKPushType", "PKPushPayload",
                "PKPushCredentials",
            ],
            .name,
            .notYet,
            "There are no pushes for calls yet.",
            instead: whenThere
        )
        + .all(
            [
                "CXProvider", "CXProviderDelegate", "CXProviderConfiguration", "CXCallUpdate",
                "CXCallController", "CXCallObserver", "CXTransaction", "CXHandle",
                "CXAnswerCallAction", "CXEndCallAction", "CXStartCallAction",
            ],
            .name,
            .notYet,
            "No call is shown yet.",
            instead: whenThere
        )

    private static let notShown = "Notifications are not shown yet."
    private static let notify = "Call org.freedesktop.Notifications, or notify-send."

    static let notifications: [Symbol] =
        .all(
            [
                "UNUserNotificationCenter", "UNUserNotificationCenterDelegate",
                "UNNotificationRequest", "UNMutableNotificationContent", "UNNotificationContent",
                "UNNotificationAction", "UNNotificationCategory", "UNNotificationAttachment",
                "UNNotificationSound", "UNNotificationActionIcon",
                "UNTimeIntervalNotificationTrigger", "UNCalendarNotificationTrigger",
                "UNLocationNotificationTrigger", "UNPushNotificationTrigger",
                "UNNotificationResponse", "UNNotification", "UNAuthorizationOptions",
                "UNNotificationServiceExtension", "defaultCriticalSound", "lockScreenSetting",
                "notificationCenterSetting",
            ],
            .name,
            .notYet,
            notShown,
            instead: notify
        )
        + .all(
            ["content.attachments", "content.updating", "settings.alertStyle"],
            .path,
            .notYet,
            notShown,
            instead: notify
        )
        + .all(
            ["UNNotificationSound.defaultCritical"],
            .path,
            .notYet,
            notShown,
            instead: notify,
            implicit: .anywhere
        )
        + .all(
            [
                "userNotificationCenter(_:openSettingsFor:)",
                "userNotificationCenter(_:willPresent:withCompletionHandler:)",
                "userNotificationCenter(_:willPresent:)",
                "userNotificationCenter(_:didReceive:withCompletionHandler:)",
                "userNotificationCenter(_:didReceive:)",
            ],
            .method,
            .notYet,
            notShown,
            instead: notify
        )
        + .all(
            ["INInteraction", "INSendMessageIntent", "INStartAudioCallIntent"],
            .name,
            .never,
            "There is no assistant to tell.",
            instead: "Leave it out."
        )

    static let location: [Symbol] =
        .all(
            [
                "CLLocationManager", "CLLocationManagerDelegate", "CLLocation", "CLRegion",
                "CLCircularRegion", "CLMonitor", "CLBackgroundActivitySession",
            ],
            .name,
            .notYet,
            "No place wakes an app yet.",
            instead: "GeoClue tells a program that runs where it is."
        )
        + .all(
            [
                "locationManager(_:didChangeAuthorization:)",
                "locationManagerDidChangeAuthorization(_:)",
                "locationManager(_:didUpdateLocations:)", "locationManager(_:didEnterRegion:)",
                "locationManager(_:didExitRegion:)",
            ],
            .method,
            .notYet,
            "No place wakes an app yet.",
            instead: "GeoClue tells a program that runs where it is."
        )
        + .all(
            ["CLGeocoder"],
            .name,
            .never,
            "Linux has no service for it.",
            instead: "Ask a server of your choice."
        )

    private static let encrypt = "Encrypt what must be, or leave it to an encrypted home directory."
    /// It compiles, so nothing has to be done for that.
    private static func ignored(_ what: String) -> String {
        "Foundation on Linux takes the \(what) and ignores it: no file is protected. " + encrypt
    }

    static let protection = files + keys

    private static let files: [Symbol] =
        .all(
            [
                "FileProtectionType", "completeFileProtection", "completeFileProtectionUnlessOpen",
                "completeFileProtectionUntilFirstUserAuthentication",
            ],
            .name,
            .differs,
            ignored("option")
        )
        + .all(
            ["fileProtection", "URLFileProtection"],
            .name,
            .notYet,
            "Foundation on Linux does not have it.",
            instead: encrypt
        )
        + .all(
            [
                "isProtectedDataAvailable", "protectedDataWillBecomeUnavailableNotification",
                "protectedDataDidBecomeAvailableNotification",
            ],
            .name,
            .notYet,
            "Files are not protected by a lock yet, so they can be read at any time.",
            instead: whenThere
        )
        + .all(
            ["FileAttributeKey.protectionKey"],
            .path,
            .differs,
            ignored("attribute"),
            implicit: .anywhere
        )
        + .all(
            ["isExcludedFromBackup"],
            .name,
            .differs,
            "Foundation on Linux takes it, and no backup asks for it: most leave out the "
                + "directory for caches."
        )

    private static let keys: [Symbol] =
        .all(
            [
                "SecItemAdd", "SecItemCopyMatching", "SecItemUpdate", "SecItemDelete",
                "SecCopyErrorMessageString", "kSecClassKey", "kSecClassIdentity",
                "kSecClassCertificate", "kSecReturnRef",
            ],
            .name,
            .notYet,
            "There is no keychain yet.",
            instead: "Use the Secret Service (libsecret)."
        )
        + .all(
            ["SecRandomCopyBytes"],
            .name,
            .never,
            "It belongs to Security.",
            instead: "SystemRandomNumberGenerator"
        )
        + .all(
            ["LAContext"],
            .name,
            .never,
            "Linux asks nobody for a face.",
            instead: "polkit asks for a password."
        )
}
