import UIKit  // expect: import UIKit

func launched(_ launchOptions: [UIApplication.LaunchOptionsKey: Any]?) {
    // expect^: UIApplication | UIApplication.LaunchOptionsKey
    let push = launchOptions?[.remoteNotification]
    // expect^: UIApplication.LaunchOptionsKey.remoteNotification
    let url = launchOptions![.url]  // expect: UIApplication.LaunchOptionsKey.url
    let other = settings[.location]
    try? FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.complete],
        // expect^: FileAttributeKey.protectionKey | FileProtectionType
        ofItemAtPath: path
    )
    content.sound = .defaultCritical  // expect: UNNotificationSound.defaultCritical
    let window = UIWindow(windowScene: scene)  // expect: UIWindow
    autoreleasepool { draw() }  // expect: autoreleasepool
    held = model.observe(\.count) { _, _ in }  // expect: observe(_:options:changeHandler:)
    model.addObserver(self, forKeyPath: "count", options: [], context: nil)
    // expect^: addObserver(_:forKeyPath:options:context:)
    if UIDevice.current.userInterfaceIdiom == .pad {}
    // expect^: UIDevice.current.userInterfaceIdiom
    switch result {
    case let error as NSError: print(error.code)  // expect: error as NSError
    default: break
    }
    delegate.applicationDidBecomeActive?(application)  // expect: call of an optional method
    model.application?(1)
}

final class Sheet: UIViewController {
    @IBOutlet var label: UILabel!  // expect: IBOutlet
    @IBAction func press() {}  // expect: IBAction
}
