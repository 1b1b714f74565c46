import CommandTable
import GatewayCore
import Linux
import TLS
import Vocabulary

/// `keys.conf`: a section for each provider key, with its public half, and one for each team that
/// has apps; and the client certificates that were revoked.
///
///     [ABC123DEFG]
///     team = TEAM
///     topics = org.example.Chat
///     public-key = BASE64
///
///     [team TEAM]
///     topics = org.example.Chat; org.example.Mail
///
///     [revoked certificates]
///     FINGERPRINT = TIME
struct KeysFile {
    let path: String
    private(set) var text: ConfigurationText
    /// Held until it is written, so that no command writes back what another has changed.
    private let lock: Lock?

    /// Of the directory: the file itself is replaced, and may be missing.
    private final class Lock {
        private let directory: FileDescriptor

        /// `waiting` is called if somebody else keeps it for more than a moment.
        init(_ path: String, waiting: () -> Void) throws(LinuxError) {
            directory = try FileDescriptor(opening: path, [.reading, .directory])
            for pause in [0, 20, 80, 200] as [Int32] {
                _ = try Poll.wait(for: [], milliseconds: pause)
                if try directory.tryLock() { return }
            }
            waiting()
            try directory.lock()
        }
    }

    /// To be read only.
    init(_ path: String) throws(Failure) {
        self.path = path
        lock = nil
        text = try ConfigurationFile.read(path)
    }

    /// To be changed, by one command at a time.
    init(changing path: String, _ console: Console) throws(Failure) {
        self.path = path
        lock = try failing {
            try Lock(Files.directory(of: path)) {
                console.printError(
                    "\(GatewayProgram.name): waiting for another command that changes \(path)"
                )
            }
        }
        text = try ConfigurationFile.read(path)
    }

    /// No key's ID has a space.
    private static let team = "team "
    private static let revoked = "revoked certificates"

    /// The ids of keys, in the order of the file.
    var ids: [String] { sections.filter { !$0.hasPrefix(Self.team) && $0 != Self.revoked } }

    private var sections: [String] {
        var sections: [String] = []
        for entry in text.entries where !sections.contains(entry.section) {
            sections.append(entry.section)
        }
        return sections
    }

    func keys() throws(Failure) -> [Authority.Key] {
        var keys: [Authority.Key] = []
        for id in ids { keys.append(try key(id)) }
        let apps = try teamApps(of: keys)
        for index in keys.indices { keys[index].key.apps = apps }
        return keys
    }

    // MARK: Teams

    /// The team of each app that has one.
    func owners() throws(Failure) -> [String: String] {
        var owners: [String: String] = [:]
        for section in sections where section.hasPrefix(Self.team) {
            let team = String(section.dropFirst(Self.team.count))
            for topic in topics(of: team) {
                if let other = owners[topic], other != team {
                    throw Failure(
                        .failed,
                        "\(path): \(topic) belongs to two teams, \(other) and \(team)"
                    )
                }
                owners[topic] = team
            }
        }
        return owners
    }

    func hasOneTeam() throws(Failure) -> Bool { try teamApps(of: try keys()).hasOneTeam }

    private func teamApps(of keys: [Authority.Key]) throws(Failure) -> TeamApps {
        TeamApps(try owners().map { ($0.key, $0.value) }, teams: keys.map(\.key.team))
    }

    /// The apps of teams, and those that keys are restricted to: no device made them up.
    func named() throws(Failure) -> [String] {
        try keys().flatMap { $0.key.topics ?? [] } + Array(try owners().keys)
    }

    private func topics(of team: String) -> [String] {
        text["topics", section: Self.team + team].map { Self.list($0.value) } ?? []
    }

    /// Gives apps to a team. Those that were another's, with its name.
    mutating func give(
        _ topics: [String],
        to team: String
    ) throws(Failure) -> [(topic: String, before: String)] {
        let owners = try owners()
        var moved: [(topic: String, before: String)] = []
        for topic in topics {
            guard let before = owners[topic], before != team else { continue }
            moved.append((topic, before))
        }
        for before in Set(moved.map(\.before)).sorted() {
            try setTopics(of: before, to: self.topics(of: before).filter { !topics.contains($0) })
        }
        let own = self.topics(of: team)
        try setTopics(of: team, to: own + topics.filter { !own.contains($0) })
        return moved
    }

    /// They belong to no team any more; whether one did.
    mutating func release(_ topic: String) throws(Failure) -> Bool {
        guard let team = try owners()[topic] else { return false }
        try setTopics(of: team, to: topics(of: team).filter { $0 != topic })
        return true
    }

    private mutating func setTopics(of team: String, to topics: [String]) throws(Failure) {
        guard topics.isEmpty else {
            return try set("topics", Self.team + team, topics.joined(separator: "; "))
        }
        try removeSection(Self.team + team)
    }

    // MARK: Keys

    private func key(_ id: String) throws(Failure) -> Authority.Key {
        func value(_ name: String) -> String? { text[name, section: id]?.value }
        func wrong(_ name: String) -> Failure {
            Failure(.failed, "\(path): [\(id)] has no \(name), or a wrong one")
        }
        guard !id.isEmpty, let team = value("team"), !team.isEmpty else { throw wrong("team") }
        guard let point = value("public-key").flatMap({ Base64.decode(Array($0.utf8)) }),
            let publicKey = try? P256PublicKey(point: point)
        else { throw wrong("public-key") }
        var key = ProviderKey(id: id, team: team)
        key.topics = value("topics").map(Self.list)
        if let name = value("environment") {
            guard let environment = PushEnvironment(rawValue: name) else {
                throw wrong("environment")
            }
            key.environment = environment
        }
        if let text = value("quota") {
            guard let quota = KeyQuota(text) else { throw wrong("quota") }
            key.quota = quota
        }
        return Authority.Key(key, publicKey)
    }

    static func list(_ text: String) -> [String] {
        text.split { $0 == ";" || $0 == "," || $0 == " " }.map(String.init)
    }

    /// The name of a key or a team, which is part of a file's name and of a token.
    static func word(_ text: String, _ what: String) throws(Failure) -> String {
        let isWord = text.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isWord, (1...64).contains(text.utf8.count) else {
            throw Failure(
                .usage,
                "\(what) cannot be \(text.quoted)",
                fix: "At most 64 letters, digits, - and _; Apple's have 10."
            )
        }
        return text
    }

    static func topics(_ list: [String]) throws(Failure) -> [String] {
        guard !list.isEmpty else { throw Failure(.usage, "there is no topic") }
        for topic in list where !BundleTable.isBundle(topic) {
            throw Failure(
                .usage,
                "\(topic.quoted) is not a topic",
                fix: "Letters, digits, - _ and . only, as in org.example.Chat."
            )
        }
        return list
    }

    mutating func add(_ key: ProviderKey, _ publicKey: P256PublicKey) throws(Failure) {
        guard !ids.contains(key.id) else {
            throw Failure(.failed, "there is a key \(key.id.quoted) already")
        }
        let point = try failing { try publicKey.point() }
        try set("team", key.id, key.team)
        if let topics = key.topics { try set("topics", key.id, topics.joined(separator: "; ")) }
        if let environment = key.environment {
            try set("environment", key.id, environment.rawValue)
        }
        try set("public-key", key.id, Base64.urlText(point))
    }

    private mutating func set(
        _ name: String,
        _ id: String,
        _ value: String
    ) throws(Failure) {
        do throws(Diagnostic) {
            try text.set(name, section: id, to: value)
        } catch {
            throw Failure(.usage, "\(error)")
        }
    }

    /// The topics of a key; nil: any.
    mutating func setTopics(_ topics: [String]?, of id: String) throws(Failure) {
        try check(id)
        if let topics { return try set("topics", id, topics.joined(separator: "; ")) }
        try remove("topics", id)
    }

    /// The quota of a key; nil: none.
    mutating func setQuota(_ text: String?, of id: String) throws(Failure) {
        try check(id)
        guard let text else {
            if self.text["quota", section: id] != nil { try remove("quota", id) }
            return
        }
        guard KeyQuota(text) != nil else {
            throw Failure(
                .usage,
                "\(text.quoted) is not a quota",
                fix: "A number of pushes and a time, as in 100000/1d; or none."
            )
        }
        try set("quota", id, text)
    }

    private func check(_ id: String) throws(Failure) {
        guard ids.contains(id) else {
            throw Failure(.notFound, "there is no key \(id.quoted)")
        }
    }

    mutating func remove(_ id: String) throws(Failure) {
        try check(id)
        try removeSection(id)
    }

    private mutating func removeSection(_ name: String) throws(Failure) {
        do throws(Diagnostic) {
            try text.removeSection(name)
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    private mutating func remove(_ name: String, _ id: String) throws(Failure) {
        do throws(Diagnostic) {
            try text.remove(name, section: id)
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    // MARK: Certificates

    /// Fingerprints of revoked certificates.
    func revoked() throws(Failure) -> Set<String> {
        var fingerprints: Set<String> = []
        for entry in revocations {
            guard Self.isFingerprint(entry.fingerprint) else {
                throw Failure(
                    .failed,
                    "\(path): [\(Self.revoked)] \(entry.fingerprint.quoted) is not a fingerprint"
                )
            }
            fingerprints.insert(entry.fingerprint)
        }
        return fingerprints
    }

    /// In the order of the file, with when that was.
    var revocations: [(fingerprint: String, at: String)] {
        text.entries.filter { $0.section == Self.revoked }.map { ($0.name, $0.value) }
    }

    /// SHA-256 in hexadecimal.
    static func isFingerprint(_ text: String) -> Bool {
        text.utf8.count == 64 && Hexadecimal.bytes(text.utf8) != nil && text == text.lowercased()
    }

    mutating func revoke(_ fingerprint: String, at time: String) throws(Failure) {
        guard !revocations.contains(where: { $0.fingerprint == fingerprint }) else { return }
        try set(fingerprint, Self.revoked, time)
    }

    /// Whether it had been revoked.
    mutating func readmit(_ fingerprint: String) throws(Failure) -> Bool {
        guard revocations.contains(where: { $0.fingerprint == fingerprint }) else { return false }
        if revocations.count == 1 {
            try removeSection(Self.revoked)
        } else {
            try remove(fingerprint, Self.revoked)
        }
        return true
    }

    /// Replaces the file; a gateway that runs reads it again.
    func write() throws(Failure) {
        try failing { try Files.replace(path, with: text.text) }
    }
}
