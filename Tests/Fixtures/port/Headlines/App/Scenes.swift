import SwiftUI  // expect: import SwiftUI

struct Scenes: App {
    @Environment(\.scenePhase) private var scenePhase  // expect: scenePhase
    @UIApplicationDelegateAdaptor private var delegate: AppDelegate
    // expect^: UIApplicationDelegateAdaptor

    var body: some Scene {
        WindowGroup { Page() }
            .onChange(of: scenePhase) {}
            .backgroundTask(.appRefresh("refresh")) { await read() }
            // expect^: backgroundTask(_:action:)
            .backgroundTask(.urlSession("feed")) {}  // expect: backgroundTask(_:action:)
    }
}
