// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// What every Swift target is built with: today's language, and no warning survives.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// The same, and every expression that may be memory-unsafe says so.
let safe: [SwiftSetting] = strict + [.strictMemorySafety()]

/// What is not worth optimising: that would take longer than it saves.
let unoptimised: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// What the tests let run through months of virtual time.
let simulated = [
    "AppProtocol", "AppTranslation", "ClientCore", "DeviceCore", "ExchangeCore", "GatewayCore",
    "Simulator", "Vocabulary",
]

/// `scripts/build-tests` leaves the rest unoptimised; `scripts/release` optimises all of it.
let besideTests = Context.environment["OFFSTAGE_BUILDS_TESTS"] == nil ? [] : unoptimised

/// Of a module of the product.
func settings(of name: String) -> [SwiftSetting] {
    simulated.contains(name) ? safe : safe + besideTests
}

/// A target of ours; its place in the layers is its list of dependencies (ARCHITECTURE.md).
func layer(_ name: String, _ dependencies: [String] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies.map { .byName(name: $0) },
        swiftSettings: settings(of: name)
    )
}

/// Its release build links the Swift runtime statically, so it runs where no toolchain is.
func program(_ name: String, _ dependencies: [String]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies.map { .byName(name: $0) },
        swiftSettings: settings(of: name),
        linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]
    )
}

/// As an app's developer would build it.
let asApps: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// The files in Examples/Samples: what ports of well-known apps look like. Those that the library
/// can build have a target below; Examples/README.md says what the others wait for.
let samples = [
    "Clowntown", "ColorFeed", "LockedDownload", "PastAttachments", "PodcastPush", "SendMessage",
    "VoIPCalls",
]

/// A program of one of them.
func sample(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Offstage"],
        path: "Examples/Samples",
        exclude: samples.filter { $0 != name }.map { $0 + ".swift" },
        sources: [name + ".swift"],
        swiftSettings: asApps
    )
}

func tests(_ name: String, _ dependencies: [String]) -> Target {
    .testTarget(
        name: name + "Tests",
        dependencies: (["TestKit"] + dependencies).map { .byName(name: $0) },
        swiftSettings: strict + unoptimised
    )
}

/// An app that shows what the library is for; `program` is what its manifest starts.
func example(_ name: String, program: String, _ others: [String] = []) -> Target {
    .executableTarget(
        name: program,
        dependencies: (["Offstage"] + others).map { .byName(name: $0) },
        path: "Examples/" + name,
        exclude: [program + ".desktop"],
        swiftSettings: asApps
    )
}

/// An app for tests, built as its developer would. In Swift 5 mode code of iOS apps has warnings.
func appPeer(_ name: String, _ settings: [SwiftSetting]) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Offstage"],
        path: "Tests/" + name,
        swiftSettings: settings
    )
}

let package = Package(
    name: "offstage",
    products: [
        .executable(name: "offstaged", targets: ["offstaged"]),
        .executable(name: "offstage", targets: ["offstage"]),
        .executable(name: "offstage-gateway", targets: ["offstage-gateway"]),
        .executable(name: "offstage-wake", targets: ["offstage-wake"]),
        .executable(name: "offstage-net", targets: ["offstage-net"]),
        .library(name: "Offstage", targets: ["Offstage"]),
    ],
    targets: [
        // Programs: options and wiring.
        program("offstaged", ["DeviceShell"]),
        program("offstage", ["Commands"]),
        program("offstage-gateway", ["GatewayShell"]),
        program("offstage-wake", ["WakeShell"]),
        program("offstage-net", ["NetworkShell"]),

        // Shells: the real world behind the ports of the cores.
        layer(
            "DeviceShell",
            [
                "BuildIdentity", "DeviceCore", "AppProtocol", "AppTranslation", "EventLoop",
                "Linux", "SystemBus", "SQLite", "Vocabulary", "Wire", "X11",
            ]
        ),
        layer(
            "NetworkShell",
            ["Curl", "EventLoop", "ExchangeCore", "Linux", "TLS", "Vocabulary", "Wire"]
        ),
        layer("WakeShell", ["AppProtocol", "EventLoop", "Linux", "SystemBus", "Vocabulary"]),
        layer(
            "GatewayShell",
            [
                "BuildIdentity", "CommandTable", "DeviceLink", "GatewayCore", "EventLoop", "HTTP2",
                "Linux", "SQLite", "TLS", "Vocabulary", "Wire",
            ]
        ),
        layer(
            "Commands",
            [
                "Simulator", "AppProtocol", "BuildIdentity", "CommandTable", "DeviceCore", "Linux",
                "Pages", "PortCore", "SystemBus", "Vocabulary", "Zlib",
            ]
        ),

        // What is drawn for people to look at.
        layer("Pages", ["DeviceCore", "Simulator", "Vocabulary"]),

        // What programs with subcommands share.
        layer("CommandTable", ["Linux", "Vocabulary"]),

        // A device's side of its link to the gateway.
        layer("DeviceLink", ["EventLoop", "Linux", "TLS", "Vocabulary", "Wire"]),

        // What a Swift app links.
        layer(
            "Offstage",
            [
                "AppProtocol", "CNSObject", "ClientCore", "EventLoop", "Linux", "SystemBus",
                "Vocabulary",
            ]
        ),

        // The virtual world for the same cores and drivers.
        layer(
            "Simulator",
            [
                "AppProtocol", "AppTranslation", "ClientCore", "DeviceCore", "ExchangeCore",
                "Vocabulary",
            ]
        ),

        // The app protocol as the device core hears and says it.
        layer("AppTranslation", ["AppProtocol", "DeviceCore", "Vocabulary"]),

        // Cores: pure, deterministic, tested without a machine.
        layer("DeviceCore", ["Vocabulary"]),
        layer("GatewayCore", ["Vocabulary"]),
        layer("ClientCore", ["AppProtocol", "Vocabulary"]),
        layer("AppProtocol", ["Vocabulary"]),
        layer("ExchangeCore", ["Vocabulary"]),
        layer("PortCore", ["Vocabulary"]),
        layer("Wire", ["Vocabulary"]),
        layer("Vocabulary"),

        // Which build this is, by the source of the cores.
        .target(name: "BuildIdentity", swiftSettings: safe, plugins: ["CoreIdentity"]),
        .plugin(name: "CoreIdentity", capability: .buildTool()),

        // Wrappers: one per C library, no policy.
        layer("EventLoop", ["CSystemd", "Linux", "Vocabulary"]),
        layer("SystemBus", ["CSystemd", "EventLoop", "Linux", "Vocabulary"]),
        layer("SQLite", ["CSQLite"]),
        layer("TLS", ["COpenSSL"]),
        layer("HTTP2", ["CNGHTTP2"]),
        layer("Zlib", ["CZlib"]),
        layer("Curl", ["CCurl"]),
        layer("X11", ["CXCB", "Vocabulary"]),
        layer("Linux", ["CLinux", "Vocabulary"]),

        // C: module maps and what Swift cannot call.
        .target(name: "CLinux"),
        // Links nothing: it loads libxcb where there is an X server.
        .target(name: "CXCB"),
        .target(name: "CNSObject"),
        .target(name: "CSystemd", linkerSettings: [.linkedLibrary("systemd")]),
        .target(
            name: "COpenSSL",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]
        ),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(
            name: "CNGHTTP2",
            pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"])]
        ),
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // Apps that show how it is used, and that the tests run.
        sample("ColorFeed"),
        example("FeedReader", program: "feedreader", ["SQLite"]),
        example("WeatherStation", program: "weatherstation"),
        example("Tides", program: "tides"),
        example("PhotoFeed", program: "photofeed"),
        example("Podcasts", program: "podcasts"),
        sample("Clowntown"),
        sample("PastAttachments"),

        // Benchmarks: every figure that the documents quote.
        .executableTarget(
            name: "offstage-bench",
            dependencies: [
                "AppProtocol", "DeviceCore", "DeviceLink", "DeviceShell", "EventLoop",
                "GatewayShell",
                "Linux", "SQLite", "Simulator", "SystemBus", "TLS", "TestKit", "Vocabulary", "Wire",
                "Zlib",
            ],
            path: "Benchmarks/Bench",
            swiftSettings: strict + besideTests
        ),
        .executableTarget(
            name: "offstage-bench-peer",
            path: "Benchmarks/BusPeer",
            linkerSettings: [.linkedLibrary("systemd")]
        ),
        .executableTarget(
            name: "offstage-bench-echo",
            path: "Benchmarks/TLSEcho",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]
        ),
        .executableTarget(
            name: "offstage-bench-pair",
            path: "Benchmarks/BarePair",
            linkerSettings: [.linkedLibrary("curl"), .linkedLibrary("sqlite3")]
        ),
        .executableTarget(
            name: "offstage-bench-links",
            dependencies: [
                "EventLoop", "GatewayCore", "GatewayShell", "Linux", "TLS", "TestKit",
                "Vocabulary", "Wire",
            ],
            path: "Benchmarks/Links",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "offstage-bench-attacks",
            dependencies: ["Linux", "TLS", "TestKit"],
            path: "Benchmarks/Attacks",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "offstage-bench-app",
            dependencies: ["Offstage"],
            path: "Benchmarks/LinkedApp",
            swiftSettings: asApps
        ),
        .executableTarget(
            name: "offstage-bench-foundation",
            path: "Benchmarks/FoundationApp",
            swiftSettings: asApps
        ),

        // Tests.
        .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
        // The kernel's refusals, for tests of what is done without.
        .target(name: "CCallFilter", path: "Tests/CCallFilter"),
        // One thread as another user.
        .target(name: "CTestKit", path: "Tests/CTestKit"),
        .target(
            name: "CFaultyDisk",
            path: "Tests/CFaultyDisk",
            linkerSettings: [.linkedLibrary("sqlite3")]
        ),
        .target(
            name: "TestKit",
            dependencies: [
                "CAllocationCounter", "CFaultyDisk", "CTestKit", "DeviceCore", "DeviceShell",
                "Linux", "TLS", "Vocabulary",
            ],
            path: "Tests/TestKit",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "ProcessPeer",
            dependencies: [
                "AppProtocol", "CCallFilter", "DeviceCore", "DeviceShell", "EventLoop", "Linux",
                "SystemBus", "TestKit", "Vocabulary",
            ],
            path: "Tests/ProcessPeer",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "SandboxPeer",
            dependencies: ["CCallFilter", "CTestKit", "NetworkShell"],
            path: "Tests/SandboxPeer",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "HelperPeer",
            dependencies: ["Offstage"],
            path: "Tests/HelperPeer",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "RulePeer",
            dependencies: ["Offstage"],
            path: "Tests/RulePeer",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "SessionPeer",
            dependencies: ["Offstage"],
            path: "Tests/SessionPeer",
            swiftSettings: strict
        ),
        // As most apps are: in the language of Swift 5.
        .executableTarget(
            name: "DevicePeer",
            dependencies: ["Offstage"],
            path: "Tests/DevicePeer",
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]
        ),
        appPeer("Swift5Peer", [.swiftLanguageMode(.v5), .unsafeFlags(["-suppress-warnings"])]),
        appPeer("Swift6Peer", asApps),
        .executableTarget(
            name: "core-allocations",
            dependencies: ["DeviceCore", "TestKit", "Vocabulary"],
            path: "Tests/CoreAllocations",
            swiftSettings: strict
        ),
        tests("TestKit", ["Linux"]),
        tests("Vocabulary", ["Vocabulary", "Linux"]),
        tests("AppProtocol", ["AppProtocol", "Linux", "Vocabulary"]),
        tests("Wire", ["Wire", "Linux", "Vocabulary"]),
        tests("DeviceLink", ["DeviceLink", "Vocabulary", "Wire"]),
        tests(
            "LinkServer",
            [
                "DeviceLink", "EventLoop", "GatewayCore", "GatewayShell", "Linux", "TLS",
                "Vocabulary", "Wire",
            ]
        ),
        tests("BuildIdentity", ["BuildIdentity", "Linux"]),
        tests("DeviceCore", ["DeviceCore", "Linux", "Vocabulary"]),
        tests("GatewayCore", ["GatewayCore", "Vocabulary"]),
        tests("ClientCore", ["AppProtocol", "ClientCore", "Vocabulary"]),
        tests("Simulator", ["Simulator", "ClientCore", "DeviceCore", "Vocabulary"]),
        tests("Linux", ["Linux", "Vocabulary"]),
        tests("EventLoop", ["EventLoop", "Linux", "Vocabulary"]),
        tests(
            "WakeShell",
            ["AppProtocol", "EventLoop", "Linux", "SystemBus", "Vocabulary", "WakeShell"]
        ),
        tests("SystemBus", ["SystemBus", "EventLoop", "Linux", "Vocabulary"]),
        tests("SQLite", ["SQLite"]),
        tests("TLS", ["Linux", "TLS"]),
        tests("ExchangeCore", ["ExchangeCore", "TLS", "Vocabulary"]),
        tests("NetworkShell", ["Curl", "Linux", "NetworkShell", "Vocabulary", "Wire"]),
        tests("Zlib", ["Zlib"]),
        tests("PortCore", ["Linux", "PortCore", "Vocabulary"]),
        tests(
            "DeviceShell",
            [
                "DeviceShell", "DeviceCore", "AppProtocol", "AppTranslation", "EventLoop",
                "Linux", "SQLite", "SystemBus", "Vocabulary", "Wire", "X11",
            ]
        ),
        tests(
            "Offstage",
            [
                "Offstage", "AppProtocol", "ClientCore", "EventLoop", "Linux", "SystemBus",
                "Vocabulary",
            ]
        ),
        tests(
            "GatewayShell",
            [
                "GatewayShell", "CommandTable", "EventLoop", "GatewayCore", "HTTP2", "Linux",
                "SQLite", "TLS", "Vocabulary",
            ]
        ),
        tests(
            "Commands",
            [
                "Commands", "AppProtocol", "BuildIdentity", "CommandTable", "DeviceCore",
                "EventLoop", "GatewayShell", "Linux", "Pages", "Simulator", "SystemBus",
                "Vocabulary", "Zlib",
            ]
        ),
        tests("Pages", ["Pages", "DeviceCore", "Linux", "Simulator", "Vocabulary", "Zlib"]),
        .testTarget(name: "TidyTests", swiftSettings: strict),
    ]
)

// What `make install` lays down for apps to build against is a part of this tree: the library, and
// what is below it.
func isHere(_ target: Target) -> Bool {
    let folder: String
    switch target.type {
    case .test: folder = "Tests/"
    case .plugin: folder = "Plugins/"
    default: folder = "Sources/"
    }
    let path = target.path ?? folder + target.name
    return FileManager.default.fileExists(atPath: Context.packageDirectory + "/" + path)
}
package.targets.removeAll { !isHere($0) }
let here = Set(package.targets.map(\.name))
package.products.removeAll { $0.name != "Offstage" && !here.contains($0.name) }
