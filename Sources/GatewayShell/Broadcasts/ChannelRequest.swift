import GatewayCore
import Vocabulary

/// A request about broadcast channels as its path says it. Clients differ in where they put the
/// channel, and in how they ask for all.
struct ChannelRequest {
    enum Kind {
        /// To all that follow: `/4/broadcasts/apps/BUNDLE`.
        case send
        /// `/1/apps/BUNDLE/channels`
        case manage
        /// `/1/apps/BUNDLE/all-channels`
        case list
    }

    var kind: Kind
    var bundle: String
    /// From the path; else it is in its field.
    var channel: ArraySlice<UInt8>?

    private static let sending = Array("/4/broadcasts/apps/".utf8)
    private static let managing = Array("/1/apps/".utf8)

    /// Nil for another path.
    init?(_ path: ArraySlice<UInt8>) {
        let slash = UInt8(ascii: "/")
        if let bundle = path.after(Self.sending) {
            (kind, self.bundle) = (.send, String(decoding: bundle, as: UTF8.self))
        } else if let rest = path.after(Self.managing) {
            let parts = rest.split(
                separator: slash,
                maxSplits: 2,
                omittingEmptySubsequences: false
            )
            guard parts.count >= 2 else { return nil }
            bundle = String(decoding: parts[0], as: UTF8.self)
            if parts[1].elementsEqual("all-channels".utf8), parts.count == 2 {
                kind = .list
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

    /// Whether a new channel keeps its newest message, by the body of its request.
    static func keepsNewest(_ body: [UInt8]) throws(Reason) -> Bool {
        guard let value = try? ValueJSON.parse(body), case .map = value else {
            throw .badRequestPayload
        }
        guard let type = value["push-type"] else { throw .missingPushType }
        guard type.stringValue?.lowercased() == PushType.liveactivity.name else {
            throw .invalidPushType
        }
        switch value["message-storage-policy"]?.integerValue {
        case 0: return false
        case 1: return true
        case .some, .none: throw .badRequestParameters
        }
    }
}
