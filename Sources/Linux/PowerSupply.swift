internal import Glibc

/// One of the kernel's power supplies, as its files tell
/// (Documentation/ABI/testing/sysfs-class-power).
package struct PowerSupply: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// A battery that feeds this machine.
        case battery(Charge)
        /// A power line into it; nil: it does not say whether it is connected.
        case line(isOnline: Bool?)
    }

    package struct Charge: Equatable, Sendable {
        /// In per cent; nil: it does not say.
        package var percent: Int?
        /// What it takes when it is full, in µWh or µAh; nil: it does not say.
        package var capacity: Int64?

        package init(percent: Int?, capacity: Int64? = nil) {
            (self.percent, self.capacity) = (percent, capacity)
        }
    }

    package var name: String
    package var kind: Kind

    package init(name: String, kind: Kind) { (self.name, self.kind) = (name, kind) }

    /// Nil: of no concern here, such as the battery of a mouse, or one that was taken out.
    package init?(name: String, in directory: String) {
        func text(_ file: String) -> String? {
            guard let text = try? Files.text("\(directory)/\(name)/\(file)", limit: 4096) else {
                return nil
            }
            return text.split(separator: "\n").first.map(String.init)
        }
        func number(_ file: String) -> Int64? { text(file).flatMap { Int64($0) } }
        guard text("scope") != "Device" else { return nil }
        self.name = name
        switch text("type") {
        case "Battery":
            guard number("present") != 0 else { return nil }
            let percent = number("capacity").map { Int(min(max($0, 0), 100)) }
            let capacity = number("energy_full") ?? number("charge_full")
            kind = .battery(Charge(percent: percent, capacity: capacity))
        case "Mains", "USB", "Wireless":
            kind = .line(isOnline: number("online").map { $0 > 0 })
        default: return nil
        }
    }

    package static let usualDirectory = "/sys/class/power_supply"

    /// Those of the machine, by name.
    package static func all(in directory: String) throws(LinuxError) -> [PowerSupply] {
        try Files.list(directory).sorted().compactMap { PowerSupply(name: $0, in: directory) }
    }
}
