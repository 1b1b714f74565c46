import Offstage

@main
final class App: UIResponder, UIApplicationDelegate {
    // expect^: UIResponder | UIApplicationDelegate
    func applicationDidEnterBackground(_ application: UIApplication) {
        // expect^: applicationDidEnterBackground(_:) | UIApplication
        let request = BGAppRefreshTaskRequest(identifier: "com.example.refresh")
        // expect^: BGAppRefreshTaskRequest
        try? BGTaskScheduler.shared.submit(request)  // expect: BGTaskScheduler
    }
}

#if canImport(UIKit)
let isPhone = true
#elseif canImport(Offstage)
let isPhone = false
#endif
