package import Vocabulary

/// Whether background refresh is on for an app.
extension Device {
    package func refreshStatus(of app: AppID) -> RefreshStatus {
        if settings.isRefreshOn(of: app) { return .available }
        return settings.value.isRefreshRestricted(of: app) ? .restricted : .denied
    }

    /// Tells the apps that run. Those that have lost their daemon learn it when they connect again.
    mutating func tellRefresh(_ transition: inout Transition) {
        for entry in liveLaunches { take(.refreshChanged, entry.launch, &transition) }
    }
}
