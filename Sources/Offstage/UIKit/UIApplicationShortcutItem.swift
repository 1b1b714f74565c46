public import Foundation

/// A quick action of an app on a home screen. There is none here, so no app is told of one: it is
/// for code that asks.
@preconcurrency
@MainActor
public class UIApplicationShortcutItem: NSObject {
    /// The kind, for the app's own use.
    public let type: String

    /// For people.
    public let localizedTitle: String

    /// For the app's own use.
    public let userInfo: [String: any NSSecureCoding]?

    /// An action of a kind.
    ///
    /// - Parameters:
    ///   - type: For the app's own use.
    ///   - localizedTitle: For people.
    public init(type: String, localizedTitle: String) {
        (self.type, self.localizedTitle, userInfo) = (type, localizedTitle, nil)
        super.init()
    }
}
