// swift-format-ignore-file
import Foundation

let documents = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0]
// expect^: FileManager.SearchPathDirectory.documentDirectory
let support = try FileManager.default.url(
    for: .applicationSupportDirectory,
    // expect^: FileManager.SearchPathDirectory.applicationSupportDirectory
    in: .userDomainMask,
    appropriateFor: nil,
    create: true
)
let caches = NSSearchPathForDirectoriesInDomains(.cachesDirectory, .userDomainMask, true)
// expect^: FileManager.SearchPathDirectory.cachesDirectory
let home = NSHomeDirectory()  // expect: NSHomeDirectory
let newer = URL.documentsDirectory  // expect: URL.documentsDirectory
let group = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.a")
// expect^: containerURL(forSecurityApplicationGroupIdentifier:)
let cloud = FileManager.default.url(forUbiquityContainerIdentifier: nil)
// expect^: url(forUbiquityContainerIdentifier:)
let sounds = Bundle.main.url(forResource: "bell", withExtension: "wav")  // expect: Bundle.main.url
let bell = Bundle.main.path(forResource: "bell", ofType: "wav")  // expect: Bundle.main.path
let own = Bundle.module.url(forResource: "bell", withExtension: "wav")
let title = String(localized: "Title")  // expect: String(localized:)
let other = Label(localized: "Title")
let styled = try AttributedString(markdown: "*a*")  // expect: AttributedString(markdown:)
let recent = NSPredicate(format: "age < %d", 3)  // expect: NSPredicate(format:)
let plain = NSPredicate { _, _ in true }
let text = String(format: "%d", 3)
let span = DateComponentsFormatter()  // expect: DateComponentsFormatter
let keys = NSUbiquitousKeyValueStore.default  // expect: NSUbiquitousKeyValueStore
var observation: NSKeyValueObservation?  // expect: NSKeyValueObservation
let began = CFAbsoluteTimeGetCurrent()  // expect: CFAbsoluteTimeGetCurrent
let center = CFNotificationCenterGetDarwinNotifyCenter()
// expect^: CFNotificationCenterGetDarwinNotifyCenter
NSFileCoordinator().coordinate(readingItemAt: own, error: nil) { _ in }
// expect^: NSFileCoordinator
let pressure = DispatchSource.makeMemoryPressureSource(eventMask: .warning)
// expect^: DispatchSource.makeMemoryPressureSource
let later = path.supportsIPv6  // expect: supportsIPv6
let first = UIApplication.shared.windows.first
// expect^: UIApplication.shared.windows
let second = windowScene?.windows.first  // expect: UIWindowScene.windows
let third = house.windows.first
let wide = UIScreen.main.bounds.width  // expect: UIScreen
UIImpactFeedbackGenerator(style: .light).impactOccurred()  // expect: UIImpactFeedbackGenerator
try data.write(to: own, options: .completeFileProtection)  // expect: completeFileProtection
