internal import Foundation
internal import Linux

/// Runs the app; returns never. It is for a `main.swift`. A delegate that is marked `@main` needs
/// no such call, and the compiler knows no `@UIApplicationMain` for this module.
///
/// - Parameters:
///   - argc: Not used: the process has its arguments.
///   - argv: Not used.
///   - principalClassName: Not used, and another one is logged: the app is a ``UIApplication``.
///   - delegateClassName: As `NSStringFromClass(AppDelegate.self)` writes it; nil: the app has no
///     delegate. The class derives from `NSObject`, and has an `init()`.
/// - Returns: Never.
@discardableResult
@preconcurrency
@MainActor
public func UIApplicationMain(
    _ argc: Int32,
    _ argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    _ principalClassName: String?,
    _ delegateClassName: String?
) -> Int32 {
    if let principalClassName, principalClassName != "UIApplication",
        principalClassName != NSStringFromClass(UIApplication.self)
    {
        LibraryLog.write(
            "UIApplicationMain makes no \(principalClassName): the app is a UIApplication "
                + "(pass nil)"
        )
    }
    let type = delegateClassName.map { name -> any (NSObject & UIApplicationDelegate).Type in
        guard let type = NSClassFromString(name) as? any (NSObject & UIApplicationDelegate).Type
        else {
            LibraryLog.write(
                "UIApplicationMain knows no class \(name) that derives from NSObject and is a "
                    + "UIApplicationDelegate (pass NSStringFromClass(AppDelegate.self))"
            )
            CurrentProcess.exit(1)
        }
        return type
    }
    UIApplication.shared.run(type?.make())
}
