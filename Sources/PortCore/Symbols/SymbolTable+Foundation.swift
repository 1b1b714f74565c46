// What Foundation on Linux has in another module, has empty, or has not.
extension SymbolTable {
    static let foundation: [Symbol] =
        moved.flatMap { module, names in
            let place =
                module == networking ? ", in a file that does not import Offstage." : " too."
            return names.map { name in
                let text = "On Linux it is in \(module)."
                return Symbol(name, .name, .differs, text, instead: "import \(module)" + place)
            }
        } + bundle + activity + folders + lacking

    static let networking = "FoundationNetworking"

    /// Types of Foundation's that have a module of their own on Linux, and no counterpart in
    /// Offstage.
    static let moved: [(module: String, names: [String])] = [
        (
            networking,
            [
                "URLCache", "CachedURLResponse", "URLProtocol", "URLCredentialStorage",
                "URLSessionWebSocketTask", "URLSessionStreamTask", "NSURLRequest",
                "NSMutableURLRequest",
            ]
        ),
        ("FoundationXML", ["XMLParser", "XMLParserDelegate"]),
    ]

    private static let bundle: [Symbol] =
        .all(
            ["Bundle.main.bundleIdentifier"],
            .path,
            .differs,
            "It is nil on Linux, where a program has no Info.plist.",
            instead: "Write the identifier."
        )
        + .all(
            ["Bundle.main.url", "Bundle.main.path"],
            .path,
            .differs,
            "It is nil on Linux, where a package's resources have a bundle of their own.",
            instead: "Declare resources: in Package.swift, and use Bundle.module."
        )
        + .all(
            ["Bundle.main.infoDictionary"],
            .path,
            .differs,
            "It is empty on Linux, where a program has no Info.plist.",
            instead: "Write the values in the source."
        )
        + [
            Symbol(
                "object(forInfoDictionaryKey:)",
                .label("forInfoDictionaryKey"),
                .differs,
                "It is nil on Linux, where a program has no Info.plist.",
                instead: "Write the value in the source."
            )
        ]

    private static let activity: [Symbol] =
        .all(
            [
                "ProcessInfo.processInfo.beginActivity", "ProcessInfo.processInfo.endActivity",
                "ProcessInfo.processInfo.performActivity",
            ],
            .path,
            .never,
            "Foundation on Linux has no activities.",
            instead: "beginBackgroundTask(…) for time in the background; else leave it out."
        )
}
