/// A path of a request about broadcast channels. Clients differ in where they put the channel, and
/// in how they ask for all.
package struct ChannelPath: Equatable, Sendable {
    package enum Kind: Sendable {
        /// To all that follow: `/4/broadcasts/apps/BUNDLE`.
        case send
        /// `/1/apps/BUNDLE/channels`
        case manage
        /// `/1/apps/BUNDLE/all-channels`
        case list
    }

    package let kind: Kind
    package let bundle: String
    /// Nil: the channel is in its field.
    package let channel: ArraySlice<UInt8>?

    private static let sending = Array("/4/broadcasts/apps/".utf8)
    private static let managing = Array("/1/apps/".utf8)

    /// Nil for another path.
    package init?(_ path: ArraySlice<UInt8>) {
        if let bundle = path.after(Self.sending) {
            (kind, self.bundle) = (.send, String(decoding: bundle, as: UTF8.self))
            channel = nil
        } else if let rest = path.after(Self.managing) {
            let parts = rest.split(
                separator: UInt8(ascii: "/"),
                maxSplits: 2,
                omittingEmptySubsequences: false
            )
            guard parts.count >= 2 else { return nil }
            bundle = String(decoding: parts[0], as: UTF8.self)
            if parts[1].elementsEqual("all-channels".utf8), parts.count == 2 {
                (kind, channel) = (.list, nil)
            } else if parts[1].elementsEqual("channels".utf8) {
                kind = .manage
                // Base64 may hold a slash.
                channel = parts.count == 3 && !parts[2].isEmpty ? parts[2] : nil
            } else {
                return nil
            }
        } else {
            return nil
        }
        guard BundleTable.isBundle(bundle) else { return nil }
    }
}
