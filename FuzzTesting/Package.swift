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

/// Fuzzers of one kind: what they hold of which modules of the project.
struct Group {
    /// The module of properties, which all of them use.
    let properties: String
    let subjects: [String]
    /// Each exports `LLVMFuzzerTestOneInput`; scripts/fuzz links one at a time with libFuzzer.
    let fuzzers: [String]
}

let groups = [
    Group(
        properties: "ParserProperties",
        subjects: ["Vocabulary"],
        fuzzers: ["FuzzValueBytes", "FuzzJSON", "FuzzManifest", "FuzzCommand", "FuzzConfiguration"]
    ),
    Group(
        properties: "OptionProperties",
        subjects: ["AppProtocol", "Vocabulary"],
        fuzzers: ["FuzzOptions"]
    ),
    Group(
        properties: "LinkProperties",
        subjects: ["Wire"],
        fuzzers: ["FuzzDeviceFrame", "FuzzGatewayFrame", "FuzzNetworkLink"]
    ),
    Group(
        properties: "PortProperties",
        subjects: ["PortCore", "Vocabulary"],
        fuzzers: ["FuzzSwiftSource", "FuzzPropertyList", "FuzzXcodeProject"]
    ),
    Group(
        properties: "ProviderProperties",
        subjects: ["GatewayCore", "Vocabulary"],
        fuzzers: [
            "FuzzHTTP1", "FuzzPayload", "FuzzProviderToken", "FuzzProxyHeader", "FuzzPushFields",
            "FuzzWebPush",
        ]
    ),
]

func target(_ name: String, _ dependencies: [String]) -> Target {
    .target(
        name: name,
        dependencies: dependencies.map { .byName(name: $0) },
        swiftSettings: strict
    )
}

let package = Package(
    name: "offstage-fuzz",
    products: groups.flatMap(\.fuzzers).map {
        .library(name: $0, type: .static, targets: [$0])
    },
    targets: [
        target("Vocabulary", []), target("AppProtocol", ["Vocabulary"]),
        target("Wire", ["Vocabulary"]), target("GatewayCore", ["Vocabulary"]),
        target("PortCore", ["Vocabulary"]),
    ]
        + groups.flatMap { group in
            [target(group.properties, group.subjects)]
                + group.fuzzers.map { target($0, [group.properties] + group.subjects) }
        }
)
