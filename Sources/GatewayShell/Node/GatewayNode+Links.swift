package import GatewayCore
import Linux
import Vocabulary

/// What links bring.
extension GatewayNode {
    /// The device with this public key; at first contact it gets its number, told once that is
    /// kept. Nil: the store cannot. Nothing is told when `mayEnrol` refuses it.
    package func identify(
        _ key: [UInt8],
        mayEnrol: () -> Bool = { true },
        _ completion: @escaping (DeviceID?) -> Void
    ) {
        do throws(StorageError) {
            if let device = try storage.device(withKey: key) {
                // It is being removed: known no more, and not yet to be made anew.
                return completion(removing.contains(device) ? nil : device)
            }
        } catch {
            failures += 1
            return completion(nil)
        }
        if let device = unwrittenDevices[key] {
            deferred.append(.identified(device, completion))
            return
        }
        guard mayEnrol() else { return }
        let device = takeDevice()
        unwrittenDevices[key] = device
        batch.changes.append(.device(device, key: key, since: Clocks.now().wall))
        deferred.append(.identified(device, completion))
    }

    /// The device proved who it is. False: the store cannot say what is kept for it.
    package func connected(
        _ device: DeviceID,
        _ link: LinkID,
        _ condition: DeviceCondition
    ) -> Bool {
        guard load(device) else { return false }
        event { $0.connected(device, link, condition, at: $1, into: &$2) }
        return true
    }

    package func disconnected(_ link: LinkID) {
        event { $0.disconnected(link, at: $1, into: &$2) }
    }

    package func register(_ bundle: String, renewing: Bool, over link: LinkID) {
        guard let app = app(bundle, for: link) else { return }
        event { $0.register(app, renewing: renewing, over: link, at: $1, into: &$2) }
    }

    /// A bundle identifier: 1 to 200 letters, digits, `-`, `_` and `.`.
    package static func isBundle(_ text: String) -> Bool {
        let bytes = text.utf8
        return (1...200).contains(bytes.count) && bytes.first != UInt8(ascii: ".")
            && bytes.allSatisfy(PushRequest.isTopic(byte:))
    }

    /// `key`: a sender's; empty: whoever knows the address.
    package func subscribe(_ bundle: String, key: [UInt8], over link: LinkID) {
        guard let app = app(bundle, for: link) else { return }
        event { $0.subscribe(app, key: key, over: link, at: $1, into: &$2) }
    }

    func endpoint(_ token: DeviceToken, key: [UInt8]) -> String {
        origin + Self.pushPath + seal.text(of: WebPushAddress(token, key: key))
    }

    /// What stands before the end of a subscription's path.
    static let pushPath = "/push/"

    package func unregister(_ bundle: String, over link: LinkID) {
        guard let app = apps.number(of: bundle) else {
            links?.unregistered(bundle, over: link)
            return
        }
        event { $0.unregister(app, over: link, at: $1, into: &$2) }
    }

    package func acknowledged(_ sending: SendingID, over link: LinkID) {
        event { $0.acknowledged(sending, over: link, at: $1, into: &$2) }
    }

    /// The device does not take it: it knows no such app.
    package func refused(_ sending: SendingID, over link: LinkID) {
        event { $0.refused(sending, over: link, at: $1, into: &$2) }
    }

    package func keptAlive(_ link: LinkID, _ condition: DeviceCondition?) {
        event { $0.keptAlive(link, condition, at: $1, into: &$2) }
    }

    package func changed(_ link: LinkID, _ condition: DeviceCondition) {
        event { $0.changed(link, condition, at: $1, into: &$2) }
    }

    package func opened(_ bundle: String, over link: LinkID) {
        guard let app = apps.number(of: bundle) else { return }
        event { $0.opened(app, over: link, at: $1, into: &$2) }
    }

    package func reported(silentLeft: Int, of bundle: String, over link: LinkID) {
        guard let app = apps.number(of: bundle) else { return }
        gateway.reported(silentLeft: silentLeft, of: app, over: link, at: Clocks.now())
    }

    /// Whether the link takes no more for now.
    package func congested(_ link: LinkID, _ isCongested: Bool) {
        event { $0.congested(link, isCongested, at: $1, into: &$2) }
    }

    /// The operator removes a device: its tokens end, its link ends, and it is new when it comes
    /// back. `completion` is called when that is on the disk, or cannot be.
    package func remove(_ device: DeviceID, _ completion: @escaping (RemovalProblem?) -> Void) {
        do throws(StorageError) {
            guard try storage.reader.knows(device), !removing.contains(device) else {
                return completion(.unknown)
            }
        } catch {
            failures += 1
            return completion(.notKept)
        }
        guard load(device) else { return completion(.notKept) }
        removing.insert(device)
        event { $0.remove(device, at: $1, into: &$2) }
        batch.changes.append(.removeDevice(device))
        deferred.append(.done { completion($0 == nil ? nil : .notKept) })
    }
}

extension GatewayNode {
    /// Takes those away that are gone, a piece at a time; the next one when this is on the disk.
    func removeDevices(unseenSince cutoff: WallTime) {
        let piece = 100
        let unseen: [DeviceID]
        do throws(StorageError) {
            unseen = try storage.reader.devices(unseenSince: cutoff, limit: piece)
        } catch {
            failures += 1
            return
        }
        // Who is connected is noted as seen with its next sign of life.
        let gone = unseen.filter { device in !look { $0.isConnected(device) } }
        let before = removing.count
        for device in gone {
            remove(device) { [weak self] in if $0 == nil { self?.expiredDevices += 1 } }
        }
        // What could not be removed is tried again with the next sweep.
        guard gone.count == piece, removing.count - before == piece else { return }
        deferred.append(
            .done { [weak self] in if $0 == nil { self?.removeDevices(unseenSince: cutoff) } }
        )
    }
}

/// Why something is still there.
package enum RemovalProblem: Sendable {
    case unknown
    /// The store could not keep it.
    case notKept
}
