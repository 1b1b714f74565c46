import GatewayCore
import Vocabulary

/// Which apps there are.
extension GatewayNode {
    /// The app that a device means; nil: it was told why it cannot have it.
    func app(_ bundle: String, for link: LinkID) -> AppNumber? {
        if let why = apps.refusal(of: bundle, gateway.limits, at: now.boot) {
            links?.refused(bundle, why, over: link)
            return nil
        }
        return apps.number(of: bundle) ?? addApp(bundle)
    }

    func addApp(_ bundle: String) -> AppNumber {
        let app = apps.add(bundle)
        batch.changes.append(.app(app, bundle: bundle))
        return app
    }

    /// The only apps that devices may register (nil: any), and those that keys name.
    package func useApps(allowed: [String]?, named: [String]) {
        apps.allowed = allowed.map(Set.init)
        apps.named = Set(named)
    }

    /// The operator removes an app and ends its tokens. `completion` is called when that is on the
    /// disk, or cannot be.
    package func removeApp(_ bundle: String, _ completion: @escaping (RemovalProblem?) -> Void) {
        guard let app = apps.number(of: bundle) else { return completion(.unknown) }
        event { $0.forget(app, at: $1, into: &$2) }
        apps.remove(app)
        batch.changes.append(.removeApp(app, bundle: bundle, withRest: true))
        deferred.append(.done { completion($0 == nil ? nil : .notKept) })
    }

    /// Makes room when there is little: what no device has registered now, no key names, and has no
    /// channels. Tokens of it are answered 400 then, no more 410.
    func reclaimApps() {
        let limit = gateway.limits.apps
        guard apps.count >= limit - limit / 10,
            let unused = try? storage.reader.unusedApps(limit: 1000)
        else { return }
        // What is on its way to the file is not known there.
        var busy = Set(writing.flatMap(\.apps) + writing.flatMap(\.newApps))
        for change in batch.changes {
            switch change {
            case .app(let app, _): busy.insert(app)
            case .registration(_, let registration): busy.insert(registration.app)
            default: break
            }
        }
        for app in unused where !busy.contains(app) {
            guard let bundle = apps.bundle(of: app), !apps.named.contains(bundle),
                apps.allowed?.contains(bundle) != true, look({ $0.channels(of: app) }).isEmpty
            else { continue }
            apps.remove(app)
            batch.changes.append(.removeApp(app, bundle: bundle, withRest: false))
        }
    }
}
