// swift-format-ignore-file
#if canImport(UIKit)  // expect: vanishes
import UIKit  // expect: import UIKit
#elseif canImport(AppKit)
import AppKit
#endif

#if os(iOS) && !targetEnvironment(macCatalyst)  // expect: vanishes
func schedule() {
    BGTaskScheduler.shared.cancelAllTaskRequests()
    application.registerForRemoteNotifications()  // expect: registerForRemoteNotifications
    #if DEBUG
    #if canImport(UIKit)
    print("within what vanishes as a whole")
    #endif
    #endif
}
#endif

#if os(iOS)  // expect: fallback
let margin = 8
#else
let margin = 4
#endif

#if os(iOS)  // expect: vanishes
let application = UIApplication.shared
#else
let application = UIScene.self  // expect: UIScene
#endif

#if canImport(UIKit)
let place = UIApplication.shared
#elseif os(Linux)
let place = 1
#endif

#if os(macOS) || targetEnvironment(simulator)
let window = UIApplication.shared
#endif

#if DEBUG || os(Linux)
let state = UIApplication.shared.applicationState  // expect: UIApplication | applicationState
#endif

#if !os(Linux)
let settings = UIApplication.shared
#endif

#if os(Linux) || os(iOS)
let both = 1
#endif

#if canImport(Realm) && swift(>=5.9)
let realm = 1
#endif

#if os(iOS)
#endif

#if (os(iOS)
    || os(tvOS))
// expect-2: vanishes
let split = 1
#endif

#if os(watchOS)
let watch = UIApplication.shared
#elseif os(iOS) || os(visionOS)  // expect: vanishes
let phone = 1
#endif
