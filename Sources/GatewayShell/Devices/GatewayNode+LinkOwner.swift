package import GatewayCore

/// Links know apps by number, as pushes are sent; the node's other callers by name.
extension GatewayNode: LinkOwner {
    package func number(of bundle: String) -> AppNumber? { apps.number(of: bundle) }

    /// Always, since nobody keeps in mind who came back after the backup was restored: what is
    /// registered already is only told again.
    package func isRestored(_ device: DeviceID) -> Bool { device < lastRestored }

    package func opened(_ app: AppNumber, over link: LinkID) {
        guard let bundle = apps.bundle(of: app) else { return }
        opened(bundle, over: link)
    }

    package func reported(silentLeft: Int, of app: AppNumber, over link: LinkID) {
        guard let bundle = apps.bundle(of: app) else { return }
        reported(silentLeft: silentLeft, of: bundle, over: link)
    }
}

extension LinkServer: DeviceLinks {}
