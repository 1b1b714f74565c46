public import Foundation

/// Why a scene does not come, or stays.
public struct UISceneError: _BridgedStoredNSError {
    /// The kinds of refusal.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error whose codes these are.
        public typealias _ErrorType = UISceneError

        /// The app has no scenes.
        case multipleScenesNotSupported = 0
        /// Not now, or not with that delegate.
        case requestDenied = 1
    }

    /// The error as Foundation knows it.
    public let _nsError: NSError

    /// The error of a Foundation one.
    public init(_nsError error: NSError) { _nsError = error }

    /// The domain of these errors.
    public static var _nsErrorDomain: String { "UISceneErrorDomain" }

    /// See ``Code/multipleScenesNotSupported``.
    public static var multipleScenesNotSupported: Code { .multipleScenesNotSupported }
    /// See ``Code/requestDenied``.
    public static var requestDenied: Code { .requestDenied }

    init(_ code: Code, reason: String) {
        self.init(code, userInfo: NSError.userInfo(of: reason))
    }

    var reason: String { _nsError.localizedFailureReason ?? "" }
}
