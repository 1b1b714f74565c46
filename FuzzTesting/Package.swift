// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nothing else is built with the fuzzer's instrumentation. The
// targets under test are links to the project's sources: `package` names end at a package.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
]

/// Each exports `LLVMFuzzerTestOneInput`; scripts/fuzz.sh links one at a time with libFuzzer.
let fuzzers = ["FuzzValueBytes", "FuzzJSON", "FuzzManifest", "FuzzCommand", "FuzzConfiguration"]
/// The same for what peers send.
let peers = ["FuzzOptions"]
/// The same for the device link.
let links = ["FuzzDeviceFrame", "FuzzGatewayFrame"]

let package = Package(
    name: "offstage-fuzz",
    products: (fuzzers + peers + links).map { .library(name: $0, type: .static, targets: [$0]) },
    targets: [
        .target(name: "Vocabulary", swiftSettings: strict),
        .target(
            name: "ParserProperties",
            dependencies: ["Vocabulary"],
            swiftSettings: strict
        ),
    ]
        + fuzzers.map {
            .target(name: $0, dependencies: ["ParserProperties"], swiftSettings: strict)
        }
        + [
            .target(name: "AppProtocol", dependencies: ["Vocabulary"], swiftSettings: strict),
            .target(
                name: "OptionProperties",
                dependencies: ["AppProtocol", "Vocabulary"],
                swiftSettings: strict
            ),
        ]
        + peers.map {
            .target(name: $0, dependencies: ["OptionProperties"], swiftSettings: strict)
        }
        + [
            .target(name: "Wire", dependencies: ["Vocabulary"], swiftSettings: strict),
            .target(name: "LinkProperties", dependencies: ["Wire"], swiftSettings: strict),
        ]
        + links.map {
            .target(name: $0, dependencies: ["LinkProperties", "Wire"], swiftSettings: strict)
        }
)
