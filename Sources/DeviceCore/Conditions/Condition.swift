/// A thing about the device that gates read. Values are integers with the meaning of `words`.
package enum Condition: String, CaseIterable, Hashable, Sendable, Codable {
    case battery, power, network, metered, lowData, locked, idle, lowPower, thermal, memory, storage

    /// Of arrays with an element for each condition.
    package var index: Int {
        switch self {
        case .battery: 0
        case .power: 1
        case .network: 2
        case .metered: 3
        case .lowData: 4
        case .locked: 5
        case .idle: 6
        case .lowPower: 7
        case .thermal: 8
        case .memory: 9
        case .storage: 10
        }
    }

    // Asked often; the whole row would be copied.
    package var harmless: Int { Self.harmless[index] }
    package var cautious: Int { Self.cautious[index] }
    private static let harmless = allCases.map(\.row.harmless)
    private static let cautious = allCases.map(\.row.cautious)

    /// The row of this condition in the one table.
    package var row: ConditionRow {
        switch self {
        case .battery: Self.rows.0
        case .power: Self.rows.1
        case .network: Self.rows.2
        case .metered: Self.rows.3
        case .lowData: Self.rows.4
        case .locked: Self.rows.5
        case .idle: Self.rows.6
        case .lowPower: Self.rows.7
        case .thermal: Self.rows.8
        case .memory: Self.rows.9
        case .storage: Self.rows.10
        }
    }

    /// The table, in the order of the cases.
    private static let rows = (
        ConditionRow(
            name: "battery",
            scale: .percent,
            harmless: 100,
            cautious: 0,
            question: "how full the battery is",
            absence: "no battery",
            documentation: "Charge of the battery. A device without one is always full."
        ),
        ConditionRow(
            name: "power",
            scale: .names(["off", "on"]),
            harmless: 1,
            cautious: 0,
            question: "whether the device is on external power",
            absence: "no battery",
            documentation: "External power: the AC line, regardless of the battery's status."
        ),
        ConditionRow(
            name: "network",
            scale: .names(["off", "portal", "on"]),
            harmless: 2,
            cautious: 0,
            question: "whether there is a network",
            documentation:
                "A route that reaches the Internet; portal: a sign-in page is in the way."
        ),
        ConditionRow(
            name: "metered",
            scale: .names(["off", "on"]),
            harmless: 0,
            cautious: 1,
            question: "whether the network is metered",
            documentation: "The network is metered."
        ),
        ConditionRow(
            name: "low-data",
            scale: .names(["off", "on"]),
            harmless: 0,
            cautious: 0,
            question: "whether data is to be saved",
            documentation:
                "Low-data mode: the user has asked programs to use little data. No sensor "
                + "reports it: it is off unless it is set."
        ),
        ConditionRow(
            name: "locked",
            scale: .names(["off", "on", "before-first-unlock"]),
            harmless: 0,
            cautious: 1,
            question: "whether the screen is locked",
            absence: "no screen lock",
            documentation: "The screen lock. Nothing runs before the first unlock since boot."
        ),
        ConditionRow(
            name: "idle",
            scale: .names(["off", "on"]),
            harmless: 1,
            cautious: 0,
            question: "whether the device is in use",
            documentation: "Nobody is using the device."
        ),
        ConditionRow(
            name: "low-power",
            scale: .names(["off", "on"]),
            harmless: 0,
            cautious: 0,
            question: "whether low-power mode is on",
            documentation: "The user has turned on low-power mode."
        ),
        ConditionRow(
            name: "thermal",
            scale: .names(["nominal", "fair", "serious", "critical"]),
            harmless: 0,
            cautious: 2,
            question: "how warm the device is",
            documentation: "Temperature of the device."
        ),
        ConditionRow(
            name: "memory",
            scale: .names(["normal", "warning", "critical"]),
            harmless: 0,
            cautious: 0,
            question: "whether memory is low",
            documentation: "Memory pressure."
        ),
        ConditionRow(
            name: "storage",
            scale: .names(["ok", "full", "failing", "gone"]),
            harmless: 0,
            cautious: 0,
            question: "whether the disk can be written",
            documentation: "Whether the state directory can be written."
        )
    )

    /// No source reports it: it is unknown, and harmless, unless the user sets it.
    package var isOnlySetByHand: Bool {
        switch self {
        case .lowData: true
        case .battery, .power, .network, .metered, .locked, .idle, .lowPower, .thermal, .memory,
            .storage:
            false
        }
    }

    /// By the name that the command line uses.
    package init?(named name: String) {
        guard let match = Self.allCases.first(where: { $0.row.name == name }) else { return nil }
        self = match
    }
}

/// One row of the table of conditions.
package struct ConditionRow: Sendable {
    /// As the command line says it.
    package let name: String
    package let scale: Scale
    /// What is taken where no source says otherwise; it holds nothing back.
    package let harmless: Int
    /// What is taken when the source is lost.
    package let cautious: Int
    /// Completes "nothing tells …".
    package let question: String
    /// Why it takes the harmless value where a source has looked and found nothing.
    package var absence = "no such device"
    package let documentation: String

    package enum Scale: Sendable {
        case percent
        /// The value is the index of the name.
        case names([String])
    }

    package func word(_ value: Int) -> String {
        switch scale {
        case .percent: "\(value) %"
        case .names(let names): names.indices.contains(value) ? names[value] : "\(value)"
        }
    }

    /// As a person types it.
    package func typed(_ value: Int) -> String {
        switch scale {
        case .percent: "\(value)"
        case .names: word(value)
        }
    }

    /// Reads what a person writes; nil: no such value.
    package func value(_ word: String) -> Int? {
        switch scale {
        case .percent:
            guard let number = Int(word.hasSuffix("%") ? String(word.dropLast()) : word),
                (0...100).contains(number)
            else { return nil }
            return number
        case .names(let names):
            return names.firstIndex(of: word.lowercased())
        }
    }

    /// What a person sets by hand: a value, or `auto`, which gives the word back to the sensors.
    package func byHand(_ word: String) -> Reading? {
        word.lowercased() == "auto" ? .silent : value(word).map { .value($0) }
    }

    /// The words that may be written, where there are any.
    package var words: [String] {
        switch scale {
        case .percent: []
        case .names(let names): names
        }
    }

    /// For messages: what may be written.
    package var choices: String {
        switch scale {
        case .percent: "0 to 100"
        case .names(let names): names.joined(separator: ", ")
        }
    }
}

/// Who reports a condition; of several the highest that is there has the word.
package enum ConditionSource: String, CaseIterable, Hashable, Sendable, Codable {
    /// `offstage set battery 40`, until `offstage set battery auto`.
    case hand
    /// The daemon itself: its store, its own clocks.
    case daemon
    /// Services of the machine, on its message bus.
    case upower
    case networkManager = "network-manager"
    case powerProfiles = "power-profiles"
    case logind
    /// The user's desktop, on the session bus.
    case desktop
    /// The user's X server.
    case xServer = "x-server"
    /// sysfs, netlink, pressure files.
    case kernel
    /// A guess from something else, such as load.
    case estimate

    /// 0 has the word before 1.
    var rank: Int {
        switch self {
        case .hand: 0
        case .daemon: 1
        // Of these no two report the same condition.
        case .upower, .networkManager, .powerProfiles, .logind: 2
        // The desktop reports one session, logind all of them.
        case .desktop: 3
        // It reports one session as well; the desktop may know more than input.
        case .xServer: 4
        case .kernel: 5
        case .estimate: 6
        }
    }

    package var label: String {
        switch self {
        case .hand: "set by hand"
        case .daemon: "the daemon"
        case .upower: "UPower"
        case .networkManager: "NetworkManager"
        case .powerProfiles: "power-profiles-daemon"
        case .logind: "logind"
        case .desktop: "the desktop"
        case .xServer: "the X server"
        case .kernel: "the kernel"
        case .estimate: "estimated"
        }
    }
}

package enum Reading: Hashable, Sendable, Codable {
    case value(Int)
    /// The source has looked: the device has nothing of the kind.
    case noDevice
    /// It was there and has vanished.
    case lost
    /// The source says nothing, or nothing any more.
    case silent
}

extension Condition {
    /// The gates that read it.
    var gates: GateSet {
        switch self {
        case .battery: GateSet(.battery)
        case .power:
            GateSet(.externalPower, .settling, .battery, .appQuota, .deviceQuota, .betterMoment)
        case .network: GateSet(.network, .settling)
        case .metered: GateSet(.metered, .settling)
        case .lowData: GateSet(.metered)
        case .locked: GateSet(.beforeFirstUnlock, .dataProtection)
        case .idle: GateSet(.deviceInUse, .sharedWake, .betterMoment)
        case .lowPower: GateSet(.lowPower)
        case .thermal: GateSet(.thermal)
        case .memory: GateSet(.memory)
        case .storage: GateSet(.storage)
        }
    }
}
