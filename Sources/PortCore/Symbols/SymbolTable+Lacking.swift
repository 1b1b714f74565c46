// Directories that programs share on Linux, and what its Foundation does not have at all.
extension SymbolTable {
    private static let shared = "On Linux it is the user's, and all programs share it: "

    static let folders: [Symbol] =
        [
            ("documentDirectory", "~/Documents"), ("applicationSupportDirectory", "~/.local/share"),
            ("cachesDirectory", "~/.cache"),
        ].map { name, place in
            Symbol(
                "FileManager.SearchPathDirectory." + name,
                .path,
                .differs,
                shared + "\(place). Append your app's name.",
                implicit: .anywhere
            )
        }
        + [
            Symbol(
                "NSHomeDirectory",
                .name,
                .differs,
                shared + "$HOME. Append a directory of your app's."
            )
        ]
        + .all(
            ["URL.documentsDirectory", "URL.applicationSupportDirectory", "URL.cachesDirectory"],
            .path,
            .never,
            lacks,
            instead: "FileManager.default.urls(for:in:), with your app's name appended."
        )

    private static let lacks = "Foundation on Linux does not have it."

    static let lacking: [Symbol] = shown + between + clouds + observed

    /// Texts for people.
    private static let shown: [Symbol] =
        [
            Symbol(
                "String(localized:)",
                .initializer("localized"),
                .never,
                lacks,
                instead: "NSLocalizedString(_:bundle:comment:), with Bundle.module."
            ),
            Symbol(
                "AttributedString(markdown:)",
                .initializer("markdown"),
                .never,
                lacks,
                instead: "AttributedString(_:), or the package swift-markdown."
            ),
            Symbol(
                "LocalizedStringResource",
                .name,
                .never,
                lacks,
                instead: "A String of NSLocalizedString(_:bundle:comment:)."
            ),
            Symbol(
                "DateComponentsFormatter",
                .name,
                .never,
                lacks,
                instead: "Duration.formatted(_:), with .time(pattern:) or .units(allowed:)."
            ),
            Symbol(
                "RelativeDateTimeFormatter",
                .name,
                .never,
                lacks,
                instead: "Date.formatted(.relative(presentation:))"
            ),
            Symbol(
                "ListFormatter",
                .name,
                .never,
                lacks,
                instead: "Array.formatted(.list(type:))"
            ),
            Symbol(
                "MeasurementFormatter",
                .name,
                .never,
                lacks,
                instead: "Convert the value, and write the unit's symbol behind it."
            ),
        ]

    /// What one program tells another, or keeps from it.
    private static let between: [Symbol] =
        .all(
            ["NSFileCoordinator", "NSFilePresenter"],
            .name,
            .never,
            lacks,
            instead: "Data.write(to:options: .atomic), which replaces a file at once."
        )
        + .all(
            [
                "CFNotificationCenterAddObserver", "CFNotificationCenterPostNotification",
                "CFNotificationCenterGetDarwinNotifyCenter", "CFNotificationName",
            ],
            .name,
            .never,
            "Linux has no such notifications between processes.",
            instead: "Signals of D-Bus, or a file that the other one watches."
        )
        + .all(
            ["NSItemProvider", "NSExtensionContext"],
            .name,
            .never,
            "An app has no extensions here.",
            instead: "Leave it out."
        )
        + [
            Symbol(
                "containerURL(forSecurityApplicationGroupIdentifier:)",
                .label("forSecurityApplicationGroupIdentifier"),
                .never,
                "Apps have no groups here: those of a user may read each other's files.",
                instead: "A directory in .applicationSupportDirectory that all of them name."
            )
        ]

    private static let clouds: [Symbol] =
        .all(
            ["NSUbiquitousKeyValueStore", "NSMetadataQuery"],
            .name,
            .never,
            "Linux has no iCloud.",
            instead: "Keep it in a file, and on a server of your choice."
        )
        + [
            Symbol(
                "url(forUbiquityContainerIdentifier:)",
                .label("forUbiquityContainerIdentifier"),
                .never,
                "Linux has no iCloud.",
                instead: "Keep it in a file, and on a server of your choice."
            )
        ]

    /// Keys, times and memory.
    private static let observed: [Symbol] =
        [
            Symbol(
                "NSPredicate(format:)",
                .initializer("format"),
                .never,
                "Linux has no predicates in strings, which read values by keys.",
                instead: "#Predicate, NSPredicate(block:), or filter with a closure."
            ),
            Symbol(
                "NSKeyValueObservation",
                .name,
                .never,
                "Linux has no observation by keys.",
                instead: "Use didSet."
            ),
            Symbol(
                "CFAbsoluteTimeGetCurrent",
                .name,
                .never,
                lacks,
                instead: "Date.timeIntervalSinceReferenceDate, or ContinuousClock to measure."
            ),
            Symbol(
                "CACurrentMediaTime",
                .name,
                .never,
                "It belongs to QuartzCore.",
                instead: "ContinuousClock"
            ),
            Symbol(
                "DispatchSource.makeMemoryPressureSource",
                .path,
                .never,
                "Dispatch on Linux does not have it.",
                instead: "applicationDidReceiveMemoryWarning(_:) of the delegate."
            ),
        ]
}
