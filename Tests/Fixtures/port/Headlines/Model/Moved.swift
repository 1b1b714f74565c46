import Foundation

/// What Foundation on Linux has elsewhere, has empty, or has not.
final class Moved: NSObject, XMLParserDelegate {  // expect: XMLParserDelegate
    func read(_ data: Data) {
        let parser = XMLParser(data: data)  // expect: XMLParser
        URLCache.shared.removeAllCachedResponses()  // expect: URLCache
        let logins = URLCredentialStorage.shared.allCredentials  // expect: URLCredentialStorage
        let id = Bundle.main.bundleIdentifier! + ".refresh"  // expect: Bundle.main.bundleIdentifier
        let info = Bundle.main.infoDictionary  // expect: Bundle.main.infoDictionary
        let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleVersion")
        // expect^: object(forInfoDictionaryKey:)
        let path = Bundle.main.resourcePath
        let activity = ProcessInfo.processInfo.beginActivity(options: .background, reason: "read")
        // expect^: ProcessInfo.processInfo.beginActivity
        ProcessInfo.processInfo.endActivity(activity)
        // expect^: ProcessInfo.processInfo.endActivity
    }
}
