/// Where manifests are, and what the apps in them are called.
package enum DesktopFileID {
    /// The id of the file at `relativePath` below an `applications` directory: `/` as `-`, without
    /// `.desktop`. Nil for other files, and for names that cannot be ids: hidden ones, control
    /// characters, more than 255 bytes.
    package static func id(relativePath: String) -> AppID? {
        let suffix = ".desktop"
        guard relativePath.hasSuffix(suffix), relativePath.utf8.count <= 255 + suffix.utf8.count
        else { return nil }
        let path = relativePath.utf8.dropLast(suffix.utf8.count)
        let components = path.split(
            separator: UInt8(ascii: "/"),
            omittingEmptySubsequences: false
        )
        for component in components {
            guard let first = component.first, first != UInt8(ascii: ".") else { return nil }
            guard component.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        }
        return AppID(components.map { String(Substring($0)) }.joined(separator: "-"))
    }

    /// The directories to search, the first found wins: `applications` in the user's data
    /// directory, then in the system's. Empty and relative entries do not count, as the XDG Base
    /// Directory Specification says; nil is an unset variable.
    package static func directories(
        dataHome: String?,
        dataDirectories: String?,
        home: String
    ) -> [String] {
        func isUsable(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }
        let own = dataHome.flatMap { isUsable($0) ? $0 : nil } ?? home + "/.local/share"
        let system =
            dataDirectories.flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        var directories: [String] = []
        for entry in [own] + system.split(separator: ":").map(String.init) where isUsable(entry) {
            let directory = withoutSlash(entry) + "/applications"
            if !directories.contains(directory) { directories.append(directory) }
        }
        return directories
    }

    private static func withoutSlash(_ path: String) -> String {
        var path = path[...]
        while path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return String(path)
    }
}
