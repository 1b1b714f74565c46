/// One of the kernel's thermal zones, as its files tell
/// (Documentation/driver-api/thermal/sysfs-api.rst).
package struct ThermalZone: Equatable, Sendable {
    package let name: String
    /// Thousandths of a degree Celsius.
    package var temperature: Int64
    /// From where the kernel slows the machine down; nil: nowhere.
    package var passive: Int64?
    /// From where it warns, or turns the machine off; nil: nowhere.
    package var critical: Int64?

    package init(name: String, temperature: Int64, passive: Int64? = nil, critical: Int64? = nil) {
        (self.name, self.temperature) = (name, temperature)
        (self.passive, self.critical) = (passive, critical)
    }

    /// Nil: it does not say how warm it is, or not how warm it may be.
    init?(name: String, in directory: String) {
        let path = directory + "/" + name
        func number(_ file: String) -> Int64? {
            (try? Files.text(path + "/" + file, limit: 4096))
                .flatMap { $0.split(separator: "\n").first }.flatMap { Int64($0) }
        }
        guard let temperature = number("temp") else { return nil }
        self.init(name: name, temperature: temperature)
        for file in (try? Files.list(path)) ?? []
        where file.hasPrefix("trip_point_") && file.hasSuffix("_type") {
            let trip = file.dropLast("_type".count)
            // Some firmware has 0 or less for one that is not set.
            guard let limit = number(trip + "_temp"), limit > 0,
                let kind = try? Files.text(path + "/" + file, limit: 4096)
            else { continue }
            switch kind.split(separator: "\n").first {
            case "passive": passive = min(passive ?? limit, limit)
            case "hot", "critical": critical = min(critical ?? limit, limit)
            case _: break
            }
        }
        guard passive != nil || critical != nil else { return nil }
    }

    package static let usualDirectory = "/sys/class/thermal"

    /// Those that say how warm they may be, by name.
    package static func all(in directory: String) throws(LinuxError) -> [ThermalZone] {
        try Files.list(directory).filter { $0.hasPrefix("thermal_zone") }.sorted()
            .compactMap { ThermalZone(name: $0, in: directory) }
    }
}
