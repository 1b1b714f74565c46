/// Modules of Apple's that iOS apps import.
enum ModuleTable {
    /// By the name of the module: the place of its row.
    static func place(_ module: String) -> Int? { places[module] }

    static func isApples(_ module: String) -> Bool { places[module] != nil }

    /// Whether a name before a type may be its module's: those of Apple's, here or on Linux.
    static func isAnyones(_ module: String) -> Bool {
        isApples(module) || module.hasPrefix("Foundation") || module == "Offstage"
    }

    /// Whether an import of it is, or becomes, one of Offstage.
    static func becomesOffstage(_ module: String) -> Bool {
        ["Offstage", "UIKit", "BackgroundTasks", "Network"].contains(module)
    }

    private static let places: [String: Int] = {
        var places: [String: Int] = [:]
        for place in SymbolTable.rows.indices {
            let row = SymbolTable.rows[place]
            if row.form == .module { places[String(row.name.dropFirst("import ".count))] = place }
        }
        return places
    }()

    private static func modules(
        _ names: [String],
        _ state: Symbol.State,
        _ text: String,
        instead replacement: String
    ) -> [Symbol] {
        .all(names.map { "import " + $0 }, .module, state, text, instead: replacement)
    }

    static let rows: [Symbol] =
        modules(
            ["UIKit"],
            .differs,
            "The life cycle is in Offstage. Windows, views and storyboards have no counterpart.",
            instead: "import Offstage; draw with a toolkit for Linux."
        )
        + modules(
            ["BackgroundTasks", "Network"],
            .differs,
            "Its background part is in Offstage.",
            instead: "import Offstage"
        )
        + modules(
            [
                "UserNotifications", "UserNotificationsUI", "PushKit", "CallKit", "CoreLocation",
                "Security", "Intents",
            ],
            .notYet,
            "This version has no part of it.",
            instead: "Put #if !os(Linux) around the import and around what uses it."
        )
        + modules(
            ["Combine"],
            .never,
            "Linux has no Combine.",
            instead: "Use closures or AsyncStream, or a package that has publishers."
        )
        + modules(
            ["os", "OSLog"],
            .never,
            "Linux has no unified log.",
            instead: "print(…), which \"offstage logs\" shows, or the package swift-log."
        )
        + modules(
            ["SwiftUI", "WidgetKit", "ActivityKit", "AppIntents", "WatchKit", "WatchConnectivity"],
            .never,
            "It draws on screens of Apple's.",
            instead: "Keep the model, and draw with a toolkit for Linux."
        )
        + modules(
            ["CoreData", "CloudKit", "SwiftData"],
            .never,
            "Linux has no such store.",
            instead: "Use SQLite or files."
        )
        + modules(
            ["Darwin"],
            .never,
            "The C library of Linux has another name.",
            instead: "import Glibc."
        )
        + modules(
            ["ObjectiveC"],
            .never,
            "Linux has no Objective-C.",
            instead: "Leave it out; NSObject is in Foundation."
        )
        + modules(
            ["CryptoKit"],
            .differs,
            "On Linux it is a package.",
            instead: "import Crypto, from the package swift-crypto."
        )
        + modules(
            [
                "ARKit", "AdSupport", "AppTrackingTransparency", "AudioToolbox", "AVFAudio",
                "AVFoundation", "AVKit", "Accelerate",
                "AuthenticationServices",
                "CFNetwork", "Charts", "Contacts", "ContactsUI", "CoreAudio", "CoreBluetooth",
                "CoreGraphics", "CoreHaptics", "CoreImage", "CoreML",
                "CoreMedia", "CoreMotion", "CoreNFC", "CoreServices", "CoreSpotlight",
                "CoreTelephony",
                "CoreText", "CoreVideo", "DeviceCheck", "EventKit", "EventKitUI",
                "ExternalAccessory", "FileProvider",
                "GameKit", "HealthKit", "HomeKit", "ImageIO", "IntentsUI", "LinkPresentation",
                "LocalAuthentication", "MapKit", "MediaPlayer", "MessageUI", "Messages", "Metal",
                "MetalKit", "MetricKit", "MobileCoreServices", "MultipeerConnectivity",
                "NaturalLanguage", "NetworkExtension",
                "PDFKit", "PencilKit", "PassKit", "Photos", "PhotosUI", "QuartzCore", "QuickLook",
                "QuickLookThumbnailing", "RealityKit", "ReplayKit",
                "SafariServices", "SceneKit", "Social", "Speech", "SpriteKit", "StoreKit",
                "SystemConfiguration", "TipKit", "UniformTypeIdentifiers", "VideoToolbox", "Vision",
                "VisionKit", "WebKit",
            ],
            .never,
            "Linux has no such module.",
            instead: "Leave out what uses it, or find a library for Linux."
        )
}
