import Vocabulary

extension GateTable.Definition {
    /// Background refresh is off, for all apps or for this one (F4).
    static let refreshOff = Self(
        title: "background refresh off",
        kind: .rule,
        check: {
            $0.settings.backgroundRefresh && $0.settings.value.app($0.app.id).backgroundRefresh
                ? .open : .held(.event)
        },
        words: {
            let forAll = !$0.settings.backgroundRefresh
            return GateWords(
                value: forAll ? "off for all apps" : "off for this app",
                needed: "on",
                since: nil,
                sentence: "background refresh is turned off "
                    + (forAll ? "for all apps" : "for it"),
                fix: "offstage set background-refresh on" + (forAll ? "" : " --app \($0.app.id)")
            )
        }
    )
}
