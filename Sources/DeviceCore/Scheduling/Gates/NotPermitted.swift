import Vocabulary

extension GateTable.Definition {
    /// The manifest declares no such mode, or does not list the identifier.
    static let notPermitted = Self(
        title: "mode not declared, identifier not permitted",
        kind: .needed,
        check: { missing($0) == nil ? .open : .held(.event) },
        explain: {
            let missing = missing($0) ?? ""
            return GateExplanation(
                value: "not in the manifest",
                needed: missing,
                since: nil,
                sentence: "its manifest lacks \(missing)"
            )
        }
    )

    private static func missing(_ context: borrowing GateContext) -> String? {
        guard let manifest = context.app.manifest, let mode = context.work.trigger.mode else {
            return nil
        }
        guard manifest.modes.contains(mode) else { return "BackgroundModes=\(mode.rawValue);" }
        guard context.work.origin == .submitted, !context.app.isTransient,
            !AppManifest.permits(
                context.work.identifier,
                by: manifest.permittedTaskIdentifiers
            )
        else { return nil }
        return "PermittedTaskIdentifiers=\(context.work.identifier);"
    }
}
