import Curl
import Glibc
import Linux
package import Wire

/// What a server that takes over this process can still do: talk to other servers, and spoil what
/// is open. It is entered once, before the first thread and the first order, and never left. What
/// this kernel does not have is left out, and told to the daemon.
package struct Sandbox {
    /// What this kernel would not.
    package private(set) var lacks: [SandboxPart] = []
    let authorities = Authorities()
    private let names = NameFiles()
    /// Those of `names` that can be read from in here, or could once they are there.
    private var watched: [String] = []

    /// 256 exchanges with their files, connections and look-ups.
    private static let openFiles: UInt64 = 2_048
    /// Far more than those take.
    private static let memory: UInt64 = 512 << 20
    /// Enough for a look-up, each of which is a thread.
    private static let threadStack = 512 << 10

    package init() throws {
        // What would be loaded later cannot be.
        try CurlLibrary.prepare()
        names.loadServices()
        try limit()
        attempt(.privileges) { () throws(LinuxError) in try CurrentProcess.refuseNewPrivileges() }
        attempt(.user) { () throws(LinuxError) in try Self.becomeNobody() }
        // After the change of the user, which undoes it.
        try CurrentProcess.hideMemory()
        let readable = readable
        attempt(.files) { () throws(LinuxError) in
            try Landlock.restrict(toReading: readable)
        }
        let calls = CallFilter.network
        attempt(.calls) { () throws(LinuxError) in try calls.install() }
        if !lacks.contains(.files) {
            watched = names.paths.filter { !Files.exists($0) || NameFiles.canRead($0) }
        }
    }

    private mutating func attempt(_ part: SandboxPart, _ body: () throws(LinuxError) -> Void) {
        do throws(LinuxError) {
            try body()
        } catch {
            lacks.append(part)
        }
    }

    /// Files, and directories with all that is beneath.
    private var readable: [String] {
        let directories = [
            "/etc/ssl", "/usr/lib/ssl", "/etc/ca-certificates", "/usr/share/ca-certificates",
            "/usr/local/share/ca-certificates", "/etc/pki/tls", "/etc/pki/ca-trust/extracted",
        ]
        return directories + authorities.readable + names.readable
    }

    private func limit() throws(LinuxError) {
        try CurrentProcess.setThreadStack(Self.threadStack)
        let limits: [(ResourceLimit.Kind, UInt64)] = [
            (.core, 0), (.openFiles, Self.openFiles), (.data, Self.memory),
        ]
        for (kind, wanted) in limits {
            let most = min(wanted, try ResourceLimit(current: kind).hard)
            try ResourceLimit(kind, soft: most, hard: most).apply()
        }
    }

    /// It gets all its files open, so it needs to be nobody in particular.
    private static func becomeNobody() throws(LinuxError) {
        defer { try? CurrentProcess.dropCapabilities() }
        guard CurrentProcess.user == 0 else { return }
        try CurrentProcess.becomeNobody()
    }

    // MARK: Later

    /// A file that names are looked up by is there and cannot be read: it has taken the place of
    /// the one that could be.
    var isOutdated: Bool {
        watched.contains { Files.exists($0) && !NameFiles.canRead($0) }
    }
}
