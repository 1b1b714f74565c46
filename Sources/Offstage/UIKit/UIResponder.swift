public import Foundation

/// What an app's delegate usually derives from. Any `NSObject` will do.
@preconcurrency
@MainActor
open class UIResponder: NSObject {
    /// Made by the library, or by the app.
    public override init() { super.init() }
}
