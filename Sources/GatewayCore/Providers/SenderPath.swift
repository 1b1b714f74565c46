/// What a request of a sender is about, by its path.
package enum SenderPath: Equatable, Sendable {
    /// To a device; the end of the path.
    case push(ArraySlice<UInt8>)
    case log(ArraySlice<UInt8>)
    case webPush(ArraySlice<UInt8>)
    case channels(ChannelPath)
    case unknown

    /// What stands before the address of Web Push.
    package static let webPush = "/push/"

    package init(_ path: ArraySlice<UInt8>) {
        if let token = path.after(Self.device) {
            self = .push(token)
        } else if let id = path.after(Self.log) {
            self = .log(id)
        } else if let address = path.after(Self.address) {
            self = .webPush(address)
        } else {
            self = ChannelPath(path).map { .channels($0) } ?? .unknown
        }
    }

    private static let device = Array("/3/device/".utf8)
    private static let log = Array("/3/log/".utf8)
    private static let address = Array(webPush.utf8)
}

extension ArraySlice where Element == UInt8 {
    /// What follows `prefix`; nil if something else begins it.
    func after(_ prefix: [UInt8]) -> Self? {
        guard count >= prefix.count else { return nil }
        for index in prefix.indices where self[startIndex + index] != prefix[index] { return nil }
        return self[(startIndex + prefix.count)...]
    }
}
