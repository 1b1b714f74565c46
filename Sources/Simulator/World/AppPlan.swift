import DeviceCore
package import Vocabulary

/// What one app of the virtual world is, and how it tends to behave.
package struct AppPlan {
    package var manifest: AppManifest
    package var isLinked: Bool
    package var identifiers: [String] = []
    package var processingIdentifiers: [String] = []
    package var usesFetch = false
    /// How often the user likes it, against the others.
    package var likes = 1
    /// Mean time of one piece of its work.
    package var work = Interval.seconds(4)
    /// Whether it reports new data, out of ten.
    package var newDataOfTen = 5
    package var isClumsy = false
    /// State of the manifest on disk.
    package var isInstalled = true
    package var problem: String?
    /// Shrinking has taken it away.
    package var isLeftOut = false
    package var fingerprint: UInt64 = 1
    var random: SeededRandom
    /// What is done now and then when apps are talkative.
    var occasions = 0
    var submissions = 0

    package init(manifest: AppManifest, isLinked: Bool, seed: UInt64) {
        self.manifest = manifest
        self.isLinked = isLinked
        random = SeededRandom(seed: seed)
    }

    package var id: AppID { manifest.id }

    /// Its manifest is in force.
    var isUsable: Bool { isInstalled && problem == nil && !isLeftOut }

    /// The moments of its refreshes are chosen by its use.
    var hasKnownUse: Bool { isLinked || manifest.useFrom != nil }

    /// What kind of work a program is started for; nil: it is the app's own.
    func command(_ arguments: [String]) -> Trigger? {
        if arguments.last == "--refresh" || arguments == manifest.refreshCommand { return .refresh }
        if arguments.last == "--process" || arguments == manifest.processingCommand {
            return .processing
        }
        return nil
    }

    /// The manifest as a starting daemon finds it.
    var change: ManifestChange {
        if isLeftOut { return .removed(id) }
        if let problem { return .invalid(id, file: "/app.desktop", reason: problem) }
        return isInstalled ? .present(manifest) : .removed(id)
    }
}

extension AppPlan {
    /// One app of a seed. Apps do not depend on each other, so that some can be left out.
    static func drawn(number: Int, seed: UInt64, mustLink: Bool = false) -> AppPlan {
        var random = SeededRandom(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
        var manifest = AppManifest(id: AppID("app\(number)"), name: "App \(number)")
        let kind = random.below(mustLink ? 6 : 10)
        let isLinked = kind < 6
        if isLinked {
            manifest.exec = ["app\(number)"]
            manifest.modes = [.fetch, .processing] + Trigger.ofEvents.compactMap(\.mode)
            manifest.noDisplay = random.chance(1, in: 2)
        } else {
            draw(command: &manifest, kind, &random)
        }
        var plan = AppPlan(manifest: manifest, isLinked: isLinked, seed: random.next())
        if isLinked {
            plan.usesFetch = kind < 2
            if !plan.usesFetch {
                plan.identifiers = ["app\(number).refresh", "app\(number).news"]
                plan.processingIdentifiers = ["app\(number).clean", "app\(number).index"]
                plan.manifest.permittedTaskIdentifiers = ["app\(number).*"]
            }
        }
        plan.likes = 1 + random.below(10)
        plan.work = .seconds(1 + random.below(12))
        plan.newDataOfTen = random.below(11)
        plan.isClumsy = random.chance(1, in: 4)
        return plan
    }

    private static func draw(
        command manifest: inout AppManifest,
        _ kind: Int,
        _ random: inout SeededRandom
    ) {
        let name = manifest.id.name
        if random.chance(1, in: 3) {
            manifest.exec = [name]
            manifest.terminal = true
        }
        if kind != 9 {
            manifest.modes.append(.fetch)
            manifest.refreshCommand = [name, "--refresh"]
            manifest.needsNetwork = random.chance(4, in: 5)
            if random.chance(1, in: 2) {
                manifest.refreshInterval = .minutes(15 * (1 + random.below(16)))
            }
        }
        if kind >= 8 {
            manifest.modes.append(.processing)
            manifest.processingCommand = [name, "--process"]
            manifest.processingNeeds = Needs(
                power: random.chance(1, in: 2),
                network: random.chance(1, in: 4),
                unmetered: random.chance(1, in: 6)
            )
            manifest.whenInterrupted = random.chance(1, in: 2) ? .freeze : .terminate
            manifest.processingInterval = .hours(4 + random.below(20))
        }
        switch random.below(4) {
        case 0: manifest.newDataFrom = .file("/data/\(name)")
        case 1: manifest.newDataFrom = .command([name, "--list"])
        case 2: manifest.failedFrom = [name, "--failed"]
        case 3: manifest.noDataExit = [3]
        case _: break
        }
        if random.chance(1, in: 3) { manifest.useFrom = .exec("/bin/\(name)") }
        if random.chance(1, in: 3) { manifest.stopTimeout = .seconds(1 + random.below(4)) }
    }
}
