import DeviceCore
@testable import DeviceShell
import Linux
import SQLite
import TestKit
import Vocabulary

/// A state directory that a version of the store has left, kept in the tree for ever.
struct StateFixture: Sendable {
    /// Of the store.
    let version: Int64
    /// The directory among those of its version.
    let name: String

    /// Where those of all versions are.
    static let root =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/") + "/Fixtures/state"

    /// Five weeks of use, and killed in the middle of things.
    static let lived = StateFixture(version: 1, name: "lived")
    /// A morning, and killed in a pause for three hours.
    static let paused = StateFixture(version: 1, name: "paused")
    static let names = ["lived", "paused"]
    static let all = (1...14).flatMap { version in
        names.map { StateFixture(version: version, name: $0) }
    }

    /// Of each version.
    static let lives = all.filter { $0.name == lived.name }
    static let pauses = all.filter { $0.name == paused.name }

    var folder: String { "\(Self.root)/version-\(version)" }
    var directory: String { "\(folder)/\(name)" }

    /// Of the apps that are installed; those of the user's own commands are in the store.
    func manifests() throws -> [AppManifest] {
        let applications = Self.root + "/applications"
        return try Files.list(applications).sorted().map { file in
            let path = applications + "/" + file
            let parsed = ManifestParser.parse(
                text: try Files.text(path),
                id: AppID(String(file.dropLast(".desktop".count))),
                file: "/opt/example/applications/" + file,
                home: "/opt/example"
            )
            guard case .app(let manifest, _) = parsed else {
                throw DidNotHappen(description: "a manifest in \(path): \(parsed)")
            }
            return manifest
        }
    }

    /// Copies it to a place where it may be changed.
    func copy(to place: String) throws {
        try Self.copy(directory, to: place)
    }

    private static func copy(_ source: String, to place: String) throws {
        try Files.makeDirectory(place, permissions: 0o700, parents: true)
        for name in try Files.list(source) {
            let (from, to) = (source + "/" + name, place + "/" + name)
            if Files.status(from)?.kind == .directory {
                try copy(from, to: to)
            } else {
                let bytes = try Files.read(from, limit: 1 << 24)
                try Files.replace(to, with: bytes.span, permissions: 0o600)
            }
        }
    }

    /// What a tool that shares no code with us has read in it.
    func known() throws -> Value {
        try ValueJSON.parse(
            try Files.read("\(folder)/\(name).json", limit: 1 << 22),
            limit: 1 << 22
        )
    }

    // MARK: Making one

    /// Lives, and leaves a directory as a daemon that was killed does.
    func make(in directory: String) throws -> VirtualWorld {
        try Files.makeDirectory(directory, permissions: 0o700, parents: true)
        let manifests = try manifests()
        let world = try live(in: directory, manifests)
        try leaveMarkers(of: world, in: directory)
        return world
    }

    private func live(in directory: String, _ manifests: [AppManifest]) throws -> VirtualWorld {
        let store = try Store(path: directory + "/offstage.db")
        store.historyLimit = 400
        var life = ExampleLife(in: store, manifests, boot: "boot-1")
        if name == "paused" {
            life.pauseInTheMorning()
        } else {
            life.liveToTheEnd(manifests)
        }
        return life.world
    }

    private func leaveMarkers(of world: VirtualWorld, in directory: String) throws {
        let markers = LaunchMarkers(directory + "/launches")
        try markers.open(bootID: world.device.bootID)
        try markers.record(ControlStep(kind: .signals, path: "", limitsMemory: false, lost: []))
        for app in world.device.appNames.compactMap({ world.device.apps.index(of: AppID($0)) }) {
            for launch in world.device.apps[app].launches {
                guard let process = launch.process else { continue }
                try markers.mark(
                    launch.id,
                    ProcessIdentity(pid: process.pid, startTime: process.startTime)
                )
            }
        }
    }
}
