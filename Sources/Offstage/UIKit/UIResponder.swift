public import Foundation

/// What an app's delegate derives from.
///
/// A delegate that is marked `@main` may have stored properties with initial values, or
/// `required init()`; an `override init()` is not offered here.
@MainActor
open class UIResponder: NSObject {
    /// Made by the library.
    public required override init() { super.init() }
}
