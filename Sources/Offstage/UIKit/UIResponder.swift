public import Foundation

/// What an app's delegate usually derives from. Any `NSObject` will do.
@preconcurrency
@MainActor
open class UIResponder: NSObject, UIUserActivityRestoring {
    /// Made by the library, or by the app.
    public override init() { super.init() }

    /// Does nothing; the library never calls it.
    open func restoreUserActivityState(_ userActivity: NSUserActivity) {}
}
