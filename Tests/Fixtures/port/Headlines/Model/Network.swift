import Foundation
import Network  // expect: import Network

func fetch() async throws {
    _ = try await URLSession.shared.data(from: address)
    // expect^: URLSession | URLSession.shared
    let session = URLSession(configuration: .default)
    // expect^: URLSession | URLSessionConfiguration.default
    let third = URLSession(
        configuration: .ephemeral  // expect: URLSessionConfiguration.ephemeral
    )
    // expect-3: URLSession
    let own = URLSession(configuration: .background(withIdentifier: "own"))
    // expect^: URLSession | URLSessionConfiguration.background
    let typed: URLSessionConfiguration = .default
    // expect^: URLSessionConfiguration | URLSessionConfiguration.default
    switch choice {
    case .default: draw(style: .default)
    default: draw(color: .background(1))
    }
    let other = URLSessionConfiguration.default
    // expect^: URLSessionConfiguration | URLSessionConfiguration.default
    let background = URLSessionConfiguration.background(withIdentifier: "feed")
    // expect^: URLSessionConfiguration | URLSessionConfiguration.background
    let monitor = NWPathMonitor()  // expect: NWPathMonitor
    SecItemDelete(query as CFDictionary)  // expect: SecItemDelete
    CLLocationManager().startUpdatingLocation()  // expect: CLLocationManager
    let center = UNUserNotificationCenter.current()  // expect: UNUserNotificationCenter
    let level = UIDevice.current.batteryLevel  // expect: UIDevice | UIDevice.current.batteryLevel
    let mine = device.batteryLevel
}

final class Feed: NSObject, URLSessionDownloadDelegate {  // expect: URLSessionDownloadDelegate
    func urlSession(  // expect: urlSession(_:downloadTask:didFinishDownloadingTo:)
        _ session: URLSession,  // expect: URLSession
        downloadTask: URLSessionDownloadTask,  // expect: URLSessionDownloadTask
        didFinishDownloadingTo location: URL
    ) {}
}
