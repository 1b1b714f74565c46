internal import AppProtocol
internal import ClientCore
public import Foundation

extension BGTaskScheduler {
    /// Why a request was not taken.
    ///
    /// `userInfo` has, under `NSLocalizedFailureReasonErrorKey`, the rule that was broken, the
    /// value that broke it, and what to do about it.
    public struct Error: _BridgedStoredNSError {
        /// The kinds of refusal.
        public enum Code: Int, _ErrorCodeProtocol, Sendable {
            /// The error whose codes these are.
            public typealias _ErrorType = BGTaskScheduler.Error

            /// There is no daemon to ask, background refresh is off for the app, or this process
            /// was started by hand.
            case unavailable = 1
            /// One refresh and ten processing requests may be pending.
            case tooManyPendingTaskRequests = 2
            /// The manifest lacks the mode or the identifier, or the user has said no.
            case notPermitted = 3
            /// A request that was only to run at once cannot.
            case immediateRunIneligible = 4
        }

        /// The error as Foundation knows it.
        public let _nsError: NSError

        /// The error of a Foundation one.
        public init(_nsError error: NSError) { _nsError = error }

        /// ``BGTaskScheduler/errorDomain``.
        public static var _nsErrorDomain: String { BGTaskScheduler.errorDomain }

        /// See ``Code/unavailable``.
        public static var unavailable: Code { .unavailable }
        /// See ``Code/tooManyPendingTaskRequests``.
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        /// See ``Code/notPermitted``.
        public static var notPermitted: Code { .notPermitted }
        /// See ``Code/immediateRunIneligible``.
        public static var immediateRunIneligible: Code { .immediateRunIneligible }

        init(_ code: Code, reason: String) {
            self.init(code, userInfo: NSError.userInfo(of: reason))
        }

        init(_ error: CallError) {
            var code = Code.unavailable
            if case .refused(let name) = error.reason {
                switch name {
                case .tooManyPendingTaskRequests: code = .tooManyPendingTaskRequests
                case .notPermitted, .invalid, .notFound: code = .notPermitted
                case .immediateRunIneligible: code = .immediateRunIneligible
                case .unavailable, .held, .storage, nil: code = .unavailable
                }
            }
            self.init(code, reason: error.text)
        }
    }
}
