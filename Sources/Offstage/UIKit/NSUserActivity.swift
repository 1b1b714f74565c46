public import Foundation

/// What a user is at, as an app describes it to another of its scenes. None comes from elsewhere,
/// and none goes there.
public class NSUserActivity: NSObject {
    /// The kind, as a name in reverse domain notation.
    public let activityType: String

    /// For people.
    public var title: String?

    /// What it takes to go on with it.
    public var userInfo: [AnyHashable: Any]?

    /// Where to go on with it in a browser.
    public var webpageURL: URL?

    /// Whether another device may go on with it. Kept for the app: no device is told.
    public var isEligibleForHandoff = true

    /// Whether a search may find it. Kept for the app: no search is told.
    public var isEligibleForSearch = false

    /// An activity of a kind.
    public init(activityType: String) {
        self.activityType = activityType
        super.init()
    }

    /// Does nothing: nobody asks what the user is at.
    public func becomeCurrent() {}

    /// Does nothing.
    public func resignCurrent() {}

    /// Does nothing.
    public func invalidate() {}
}

/// The kind of an activity that is a page of the Web, by its address. None comes here: an app is
/// opened for URLs.
public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"

/// What can show again what a user was at.
@preconcurrency
@MainActor
public protocol UIUserActivityRestoring: NSObjectProtocol {
    /// Shows it; for the app's own use.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}
