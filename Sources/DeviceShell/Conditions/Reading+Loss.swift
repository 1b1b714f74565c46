internal import DeviceCore

extension Reading {
    /// What its source says when it cannot be read any more: what was there is lost.
    var unread: Reading {
        switch self {
        case .value, .lost: .lost
        case .noDevice, .silent: .silent
        }
    }
}
