internal import Foundation
internal import Linux

/// What the machine says of itself.
struct DeviceIdentity: Equatable {
    let model: String
    let systemName: String
    let systemVersion: String

    /// `root`: where the machine's files are.
    init(root: String = "") {
        let release = Self.release(root)
        systemName = release["NAME"] ?? "Linux"
        systemVersion = release["VERSION_ID"] ?? Self.kernelVersion
        // A phone has a device tree, a laptop what its firmware says.
        let places = ["/proc/device-tree/model", "/sys/class/dmi/id/product_name"]
        model = places.lazy.compactMap { Self.line(root + $0) }.first ?? "Linux"
    }

    /// One short text; the device tree ends it with a zero.
    private static func line(_ path: String) -> String? {
        guard let text = try? Files.text(path, limit: 256) else { return nil }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines.union(["\0"]))
        return trimmed.isEmpty ? nil : trimmed
    }

    /// The assignments of os-release(5).
    private static func release(_ root: String) -> [String: String] {
        let places = ["/etc/os-release", "/usr/lib/os-release"]
        let text = places.lazy.compactMap { try? Files.text(root + $0, limit: 64 << 10) }.first
        var values: [String: String] = [:]
        for line in (text ?? "").split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, !line.hasPrefix("#") else { continue }
            let value = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"'"))
            if !value.isEmpty { values[String(parts[0])] = value }
        }
        return values
    }

    private static var kernelVersion: String {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
    }
}
