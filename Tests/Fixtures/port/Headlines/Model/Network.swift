import Foundation
import Network  // expect: import Network

func fetch() async throws {
    _ = try await URLSession.shared.data(from: address)
    // expect^: URLSession.shared
    let session = URLSession(configuration: .default)
    // expect^: URLSessionConfiguration.default
    let third = URLSession(
        configuration: .ephemeral  // expect: URLSessionConfiguration.ephemeral
    )
    // expect-3: URLSession
    let own = URLSession(configuration: .background(withIdentifier: "own"))
    // expect^: URLSession | URLSessionConfiguration.background
    let typed: URLSessionConfiguration = .default
    // expect^: URLSessionConfiguration.default
    switch choice {
    case .default: draw(style: .default)
    default: draw(color: .background(1))
    }
    let other = URLSessionConfiguration.default
    // expect^: URLSessionConfiguration.default
    let background = URLSessionConfiguration.background(withIdentifier: "feed")
    // expect^: URLSessionConfiguration | URLSessionConfiguration.background
    background.urlCache = nil  // expect: urlCache
    background.tlsMinimumSupportedProtocolVersion = .TLSv13
    // expect^: tlsMinimumSupportedProtocolVersion
    background.networkServiceType = .background  // expect: networkServiceType
    session.reset {}  // expect: session.reset
    cursor.reset {}
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

    func urlSession(  // expect: urlSession(_:didReceive:completionHandler:)
        _ session: URLSession,  // expect: URLSession
        didReceive challenge: URLAuthenticationChallenge,  // expect: URLAuthenticationChallenge
        completionHandler: @escaping (URLSession.AuthChallengeDisposition) -> Void
            // expect^: URLSession
    ) {}
}
