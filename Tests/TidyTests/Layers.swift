/// Who may know whom: the table of ARCHITECTURE.md. A target that is not in it fails the test, so
/// that a new one is put in its place on purpose.
struct Layers {
    struct Target {
        /// Targets of ours that it may import.
        var ours: Set<String> = []
        /// Modules of the system that it may import.
        var system: Set<String> = []
    }

    private static let cores: Set<String> = ["Vocabulary", "DeviceCore", "AppProtocol"]
    private static let system: Set<String> = ["Glibc", "Synchronization"]
    private static let wrappers: Set<String> = [
        "EventLoop", "Linux", "SQLite", "SystemBus", "Zlib",
    ]

    static let table: [String: Target] = [
        "offstaged": Target(
            ours: cores.union(wrappers).union(["DeviceShell"]),
            system: system
        ),
        "offstage": Target(
            ours: cores.union(wrappers).union(["Commands", "Simulator"]),
            system: system
        ),
        "DeviceShell": Target(
            ours: cores.union(wrappers).union(["AppTranslation", "BuildIdentity", "Wire", "X11"]),
            system: system
        ),
        "offstage-wake": Target(ours: ["WakeShell"], system: system),
        "WakeShell": Target(
            ours: ["AppProtocol", "EventLoop", "Linux", "SystemBus", "Vocabulary"],
            system: system
        ),
        "offstage-net": Target(ours: ["NetworkShell"], system: system),
        "NetworkShell": Target(
            ours: [
                "Curl", "EventLoop", "ExchangeCore", "Linux", "TLS", "Vocabulary", "Wire",
            ],
            system: system
        ),
        "offstage-gateway": Target(ours: ["GatewayShell"], system: system),
        "GatewayShell": Target(
            ours: wrappers.union([
                "BuildIdentity", "CommandTable", "DeviceLink", "GatewayCore", "HTTP2", "TLS",
                "Vocabulary", "Wire",
            ]),
            system: system
        ),
        "Commands": Target(
            ours: cores.union(wrappers).union([
                "BuildIdentity", "CommandTable", "Pages", "PortCore", "Simulator",
            ]),
            system: system
        ),
        "Pages": Target(ours: ["DeviceCore", "Simulator", "Vocabulary"], system: ["Glibc"]),
        "CommandTable": Target(ours: ["Linux", "Vocabulary"], system: system),
        "BuildIdentity": Target(),
        "Offstage": Target(
            ours: wrappers.subtracting(["SQLite", "Zlib"]).union([
                "AppProtocol", "CNSObject", "ClientCore", "Vocabulary",
            ]),
            system: system.union(["Dispatch", "Foundation"])
        ),
        "Simulator": Target(ours: cores.union(["AppTranslation", "ClientCore", "ExchangeCore"])),
        "AppTranslation": Target(ours: cores),
        "DeviceCore": Target(ours: ["Vocabulary"]),
        "GatewayCore": Target(ours: ["Vocabulary"]),
        "ClientCore": Target(ours: ["AppProtocol", "Vocabulary"]),
        "AppProtocol": Target(ours: ["Vocabulary"]),
        "ExchangeCore": Target(ours: ["Vocabulary"]),
        "PortCore": Target(ours: ["Vocabulary"]),
        "Wire": Target(ours: ["Vocabulary"]),
        "DeviceLink": Target(
            ours: ["EventLoop", "Linux", "TLS", "Vocabulary", "Wire"],
            system: system
        ),
        "Vocabulary": Target(),
        "EventLoop": Target(ours: ["CSystemd", "CLinux", "Linux", "Vocabulary"], system: system),
        "SystemBus": Target(
            ours: ["CSystemd", "CLinux", "EventLoop", "Linux", "Vocabulary"],
            system: system
        ),
        "SQLite": Target(ours: ["CSQLite", "Vocabulary"], system: system),
        "Zlib": Target(ours: ["CZlib"]),
        "X11": Target(ours: ["CXCB", "Vocabulary"]),
        "CXCB": Target(),
        "Linux": Target(ours: ["CLinux", "Vocabulary"], system: system),
        "CLinux": Target(),
        "CNSObject": Target(),
        "CSystemd": Target(),
        "TLS": Target(ours: ["COpenSSL"], system: system),
        "CSQLite": Target(),
        "COpenSSL": Target(),
        "HTTP2": Target(ours: ["CNGHTTP2"], system: system),
        "CNGHTTP2": Target(),
        "CZlib": Target(),
        "Curl": Target(ours: ["CCurl"]),
        "CCurl": Target(),
    ]

    /// Targets that decide and may therefore know nothing but values. The simulator plays the world
    /// for them and is held to the same.
    static let pure: Set<String> = [
        "Vocabulary", "DeviceCore", "GatewayCore", "ClientCore", "AppProtocol",
        "AppTranslation", "ExchangeCore", "PortCore", "Wire", "Simulator",
    ]
}

/// What the cores and their virtual world may not say.
let coreRules = [
    Rule(
        name: "cores read no clock, draw no unseeded number and do nothing",
        applies: \.isCore,
        check: { file in
            let forbidden = [
                "ContinuousClock", "SuspendingClock", "SystemRandomNumberGenerator", ".random(",
                ".randomElement(", ".shuffle(", ".shuffled(", ".hashValue", "Hasher()",
                "ObjectIdentifier", "CommandLine", "print(", "readLine(", "Task.", "Task {",
                "DispatchQueue", "Thread",
            ]
            return forbidden.flatMap { word in
                file.code.places(of: word).map { file.finding(at: $0, "\(word) in a core") }
            }
        },
        bad: [
            Rule.Sample("Sources/DeviceCore/A.swift", "let a = Int.random(in: 1...6)"),
            Rule.Sample("Sources/Vocabulary/A.swift", "\nlet a = ContinuousClock().now", line: 2),
            Rule.Sample("Sources/Simulator/A.swift", "print(\"\\(a)\")"),
        ],
        good: [
            Rule.Sample("Sources/DeviceCore/A.swift", "// as Int.random(in: 1...6) would\n"),
            Rule.Sample("Sources/DeviceCore/A.swift", "let a = \"print(it)\"; fingerprint(a)"),
        ]
    )
]

/// Each target imports only what its place in the layers allows.
let imports = Rule(
    name: "arrows between targets point down",
    applies: { $0.isSource && $0.isSwift },
    check: { file in
        guard let target = file.target, let allowed = Layers.table[target] else {
            return [Finding(path: file.path, line: 1, what: "a target without a layer")]
        }
        return file.code.places(of: "import").compactMap { place -> Finding? in
            let line = file.code.text(line: file.code.line(of: place))
            let words = line.split(separator: " ").map(String.init)
            guard let at = words.firstIndex(of: "import"), at + 1 < words.count else { return nil }
            let kinds = ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let"]
            let name = words.dropFirst(at + 1).first { !kinds.contains($0) } ?? ""
            let module = String(name.prefix { $0 != "." && $0 != ";" })
            if allowed.ours.contains(module) || allowed.system.contains(module) { return nil }
            return file.finding(at: place, "\(target) may not import \(module)")
        }
    },
    bad: [
        Rule.Sample("Sources/DeviceCore/A.swift", "// first\nimport Glibc", line: 2),
        Rule.Sample("Sources/Vocabulary/A.swift", "package import struct DeviceCore.Device"),
        Rule.Sample("Sources/Commands/A.swift", "internal import DeviceShell"),
        Rule.Sample("Sources/Linux/A.swift", "import Foundation"),
        Rule.Sample("Sources/Novel/A.swift", "let a = 1"),
    ],
    good: [
        Rule.Sample("Sources/DeviceCore/A.swift", "package import Vocabulary\n// import Glibc"),
        Rule.Sample("Sources/Linux/A.swift", "internal import CLinux\ninternal import Glibc"),
    ]
)
