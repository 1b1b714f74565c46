// Stands in for Manifest/AppManifest.swift until that lands; delete it then.
package struct EnvironmentVariable: Hashable, Sendable, Codable {
    package var name: String; package var value: String
    package init(name: String, value: String) { self.name = name; self.value = value }
}
package struct Needs: Hashable, Sendable, Codable {
    package var power = false; package var network = false; package var unmetered = false
    package init(power: Bool = false, network: Bool = false, unmetered: Bool = false) {
        self.power = power; self.network = network; self.unmetered = unmetered
    }
}
package enum ResultSource: Hashable, Sendable, Codable {
    case exit, file(String), command([String])
}
package enum UseSource: Hashable, Sendable, Codable { case exec(String), file(String) }
package enum Interruption: String, Hashable, Sendable, Codable { case terminate, freeze }
package enum BackgroundMode: String, CaseIterable, Codable, Sendable, Hashable {
    case fetch, processing, remoteNotification = "remote-notification", voip, location
}
package struct AppManifest: Hashable, Sendable, Codable {
    package var id: AppID; package var name: String; package var file = "";
    package var exec: [String]?; package var directory: String?
    package var terminal = false; package var noDisplay = false;
    package var modes: [BackgroundMode] = []; package var permittedTaskIdentifiers: [String] = []
    package var environment: [EnvironmentVariable] = []; package var passEnvironment: [String] = []
    package var refreshCommand: [String]?; package var processingCommand: [String]?;
    package var refreshInterval: Interval?; package var processingInterval: Interval?
    package var processingNeeds = Needs(); package var whenInterrupted = Interruption.terminate;
    package var newDataFrom = ResultSource.exit; package var failedFrom: [String]?
    package var noDataExit: [Int32] = []; package var retryExit: [Int32] = [75];
    package var useFrom: UseSource?; package var needsNetwork = true;
    package var memoryLimit: Int64?; package var stopTimeout: Interval?
    package init(id: AppID, name: String) { self.id = id; self.name = name }
    package func permits(identifier: String) -> Bool {
        permittedTaskIdentifiers.contains {
            $0 == identifier || ($0.hasSuffix("*") && identifier.hasPrefix($0.dropLast()))
        }
    }
}
