/// What a name in a project's directory is for us.
package enum ProjectEntry: Equatable, Sendable {
    case source
    case infoPlist
    /// A project of Xcode: the directory whose project.pbxproj is read.
    case xcodeProject
    /// To be looked into, if it is a directory.
    case folder
    /// A directory of others, or of what a build has made.
    case skipped
    case other

    /// No file that somebody has written is as large.
    package static let sizeLimit = 4 << 20

    /// Deeper directories are not looked into.
    package static let depthLimit = 64

    package init(_ name: String, isDirectory: Bool) {
        let name = Substring(name)
        if isDirectory {
            let isSkipped =
                name.hasPrefix(".") || Self.skippedNames.contains(String(name))
                || Self.skippedSuffixes.contains { name.hasSuffix($0) }
            let isProject = name.hasSuffix(".xcodeproj")
            self = isSkipped ? .skipped : isProject ? .xcodeProject : .folder
        } else if name.hasPrefix(".") {
            self = .other
        } else if name.hasSuffix(".swift") {
            self = .source
        } else if name == "Info.plist" || name.hasSuffix("-Info.plist") {
            self = .infoPlist
        } else {
            self = .other
        }
    }

    private static let skippedNames: Set<String> = [
        "Pods", "Carthage", "DerivedData", "node_modules",
    ]

    private static let skippedSuffixes = [
        ".framework", ".xcframework", ".xcworkspace", ".xcassets", ".playground",
    ]
}
