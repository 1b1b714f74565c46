// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// The core and its simulator, as they are after a patch; and the program that tries them.
let package = Package(
    name: "invented-trigger",
    targets: [
        .target(name: "Vocabulary", swiftSettings: strict),
        .target(name: "DeviceCore", dependencies: ["Vocabulary"], swiftSettings: strict),
        .target(name: "ExchangeCore", dependencies: ["Vocabulary"], swiftSettings: strict),
        .target(name: "AppProtocol", dependencies: ["Vocabulary"], swiftSettings: strict),
        .target(
            name: "ClientCore",
            dependencies: ["AppProtocol", "Vocabulary"],
            swiftSettings: strict
        ),
        .target(
            name: "AppTranslation",
            dependencies: ["AppProtocol", "DeviceCore", "Vocabulary"],
            swiftSettings: strict
        ),
        .target(
            name: "Simulator",
            dependencies: [
                "AppProtocol", "AppTranslation", "ClientCore", "DeviceCore", "ExchangeCore",
                "Vocabulary",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "Doorbells",
            dependencies: ["DeviceCore", "Simulator", "Vocabulary"],
            swiftSettings: strict,
            linkerSettings: [.linkedLibrary("m")]
        ),
    ]
)
