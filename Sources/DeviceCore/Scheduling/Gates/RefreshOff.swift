import Vocabulary

extension GateTable.Definition {
    /// Background refresh is off, for all apps or for this one (F4).
    static let refreshOff = Self(
        title: "background refresh off",
        kind: .rule,
        check: {
            $0.settings.isRefreshOn(of: $0.app.id) ? .open : .held(.event)
        },
        explain: {
            let forAll = !$0.settings.backgroundRefresh
            let isRestricted = $0.settings.value.isRefreshRestricted(of: $0.app.id)
            let whom = forAll ? "for all apps" : "for this app"
            return GateExplanation(
                value: "off \(whom)" + (isRestricted ? ", by the administrator" : ""),
                needed: "on",
                since: nil,
                sentence: "background refresh is turned off "
                    + (forAll ? "for all apps" : "for it")
                    + (isRestricted ? " by the administrator of this machine" : ""),
                fix: isRestricted
                    ? Refusal.administrator
                    : "offstage set background-refresh on"
                        + (forAll ? "" : " --app \($0.app.id)")
            )
        }
    )
}
