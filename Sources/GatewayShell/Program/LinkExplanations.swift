import Wire

extension RegistrationProblem {
    var explanation: String {
        switch self {
        case .tooManyApps: "the device has too many apps"
        case .unknownTopic: "nobody sends to it through this gateway"
        case .badKey: "the sender's key is invalid"
        case .unavailable: "not now; asked again with the next keep-alive"
        }
    }
}

extension FollowRefusal {
    var explanation: String {
        switch self {
        case .noChannel: "there is no such channel of the app"
        case .tooMany: "the device follows too many"
        }
    }
}

extension EndReason {
    var explanation: String {
        switch self {
        case .shutdown: "it stops"
        case .busy: "it takes no more now: too many come at once, or it cannot store them"
        case .superseded: "the same device came over another"
        case .removed: "the operator removed the device"
        case .tooSlow: "nothing was heard or taken in time"
        case .malformed: "a frame was malformed"
        case .outOfOrder: "a frame came out of order"
        case .badVersion: "no version is spoken by both"
        case .badSignature: "the signature is wrong"
        case .leaving: "the device left"
        case .notEnrolled: "it wants its enrolment secret from new devices"
        }
    }
}
