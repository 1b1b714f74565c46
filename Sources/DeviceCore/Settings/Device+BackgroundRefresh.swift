package import Vocabulary

/// Whether background refresh is on for an app.
extension Device {
    package func refreshStatus(of app: AppID) -> RefreshStatus {
        let isOn = settings.backgroundRefresh && settings.value.app(app).backgroundRefresh
        if isOn { return .available }
        return settings.value.isRefreshRestricted(of: app) ? .restricted : .denied
    }

    /// Tells the apps that run.
    mutating func tellRefresh(_ transition: inout Transition) {
        for owner in owners { take(.refreshChanged, owner.launch, &transition) }
    }
}
