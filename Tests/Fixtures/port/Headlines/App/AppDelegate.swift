import BackgroundTasks  // expect: import BackgroundTasks
import UIKit  // expect: import UIKit
import class UIKit.UIScreen  // expect: import UIKit | UIScreen

@UIApplicationMain  // expect: @UIApplicationMain
class AppDelegate: UIResponder, UIApplicationDelegate {
    // expect^: UIResponder | UIApplicationDelegate
    func application(  // expect: application(_:didFinishLaunchingWithOptions:)
        _ application: UIApplication,  // expect: UIApplication
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
            // expect^: UIApplication | UIApplication.LaunchOptionsKey
    ) -> Bool {
        BGTaskScheduler.shared.register(  // expect: BGTaskScheduler
            forTaskWithIdentifier: "com.example.headlines.refresh",
            // expect^: register(forTaskWithIdentifier:using:launchHandler:)
            using: nil
        ) { task in
            task.expirationHandler = nil
            task.expirationHandler?()  // expect: call of an expiration handler
            let handler: (() -> Void)? = task.expirationHandler
            task.setTaskCompleted(success: true)  // expect: setTaskCompleted
        }
        application.registerForRemoteNotifications()  // expect: registerForRemoteNotifications
        return true
    }

    // expect+: applicationDidEnterBackground(_:) | UIApplication
    func applicationDidEnterBackground(_ application: UIApplication) {
        let request = BGProcessingTaskRequest(identifier: "com.example.headlines.index")
        // expect^: BGProcessingTaskRequest
        request.requiresExternalPower = true  // expect: requiresExternalPower
        do {
            try BGTaskScheduler.shared.submit(request)  // expect: BGTaskScheduler
        } catch let error as NSError {  // expect: error as NSError
            print(error.code)
        }
    }

    func application(
        // expect^: application(_:didReceiveRemoteNotification:fetchCompletionHandler:)
        _ application: UIApplication,  // expect: UIApplication
        didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
            // expect^: UIBackgroundFetchResult
    ) {
        completionHandler(.noData)
    }

    // expect+: applicationDidFinishLaunching(_:) | UIApplication
    func applicationDidFinishLaunching(_ application: UIApplication) {}

    func application(
        // expect^: application(_:continue:restorationHandler:)
        _ application: UIApplication,  // expect: UIApplication
        continue userActivity: NSUserActivity,  // expect: NSUserActivity
        restorationHandler: @escaping ([UIUserActivityRestoring]?) -> Void
            // expect^: UIUserActivityRestoring
    ) -> Bool {
        userActivity.activityType == NSUserActivityTypeBrowsingWeb
        // expect^: NSUserActivityTypeBrowsingWeb
    }

    // expect+: applicationSignificantTimeChange(_:) | UIApplication
    func applicationSignificantTimeChange(_ application: UIApplication) {}

    func application(
        // expect^: application(_:supportedInterfaceOrientationsFor:)
        _ application: UIApplication,  // expect: UIApplication
        supportedInterfaceOrientationsFor window: UIWindow?  // expect: UIWindow
    ) -> UIInterfaceOrientationMask { .all }

    /// Another method of the same first word.
    func application(_ application: Int, of names: [String: Int]) {}

    func ask() {
        let app = UIApplication.shared  // expect: UIApplication
        app.delegate?.applicationDidBecomeActive?(app)  // expect: call of an optional method
        UIApplication.shared.open(page)  // expect: UIApplication.shared.open
        if app.canOpenURL(page) {}  // expect: canOpenURL
        page.open()
        if app.isProtectedDataAvailable {}  // expect: isProtectedDataAvailable
        UIApplicationMain(0, nil, nil, nil)  // expect: UIApplicationMain(_:_:_:_:)
        let code = (failure as? NSError)?.code  // expect: error as NSError
        let stays = (failure as NSError).code
    }
}
