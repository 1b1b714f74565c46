package import Linux
package import Vocabulary

/// A file per launch that says whether its program was started (ARCHITECTURE.md, One run, step 4).
/// It is made before the start, and the child writes `PID STARTTIME` just before execve. It
/// outlives the daemon and, in words, the boot. Until when the launch may run is in lines of their
/// own, `until AWAKE`; the last one holds.
package struct LaunchMarkers: Sendable {
    package let directory: String

    package init(_ directory: String) { self.directory = directory }

    /// Makes the directory, and forgets markers of another boot: their processes are gone. Throws
    /// when the boot cannot be written down: no launch may be marked before it was.
    package func open(bootID: String) throws(LinuxError) {
        try Files.makeDirectory(directory, parents: true)
        let boot = directory + "/boot"
        if let known = try? Files.text(boot, limit: 256), known == bootID { return }
        for id in launches() { try remove(id) }
        // What a loss of power takes is of no use after it.
        try Files.replace(boot, with: bootID, synchronized: false)
    }

    /// Keeps where launches live, so that a daemon started elsewhere finds them again.
    package func record(_ step: ControlStep) throws(LinuxError) {
        let lines = [step.kind.rawValue, step.path] + step.directories
        let text = lines.map { $0 + "\n" }.joined()
        // Also by a daemon that starts on a full disk.
        guard (try? Files.text(directory + "/step", limit: 8192)) != text else { return }
        try Files.replace(directory + "/step", with: text, synchronized: false)
    }

    /// The step recorded last: its kind, its path, and its directories.
    package func recordedStep() -> ControlStep? {
        guard let text = try? Files.text(directory + "/step", limit: 8192) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count >= 2, let kind = ControlStep.Kind(rawValue: lines[0]) else {
            return nil
        }
        var step = ControlStep(kind: kind, path: lines[1], limitsMemory: false, lost: [])
        step.directories = lines.dropFirst(2).filter { !$0.isEmpty }
        return step
    }

    package func path(of id: LaunchID) -> String { directory + "/" + LaunchName.of(id) }

    /// The marker of a launch about to start, for `Program.marker`, with the launch's end where one
    /// is known. One that is there already is of a start that was given up, whose child may hold it
    /// still.
    package func create(
        _ id: LaunchID,
        until deadline: AwakeTime? = nil
    ) throws(LinuxError) -> FileDescriptor {
        let marker = try createEmpty(id)
        if let deadline { try marker.writeAll(Self.line(deadline)) }
        return marker
    }

    private func createEmpty(_ id: LaunchID) throws(LinuxError) -> FileDescriptor {
        do throws(LinuxError) {
            return try open(id)
        } catch  where error.errno == .exists {
            try remove(id)
            return try open(id)
        }
    }

    private func open(_ id: LaunchID) throws(LinuxError) -> FileDescriptor {
        try FileDescriptor(opening: path(of: id), [.writing, .create, .exclusive, .append])
    }

    /// Marks a launch whose process runs already.
    package func mark(_ id: LaunchID, _ process: ProcessIdentity) throws(LinuxError) {
        try create(id).writeAll("\(process.pid) \(process.startTime)\n")
    }

    /// Marks a launch as it must be marked by now: its marker is lost, or has missed something.
    func restore(
        _ id: LaunchID,
        _ process: ProcessIdentity,
        until deadline: AwakeTime?
    ) throws(LinuxError) {
        guard self.process(of: id) != process || self.deadline(of: id) != deadline else { return }
        let end = deadline.map(Self.line) ?? ""
        try Files.replace(path(of: id), with: "\(process.pid) \(process.startTime)\n" + end)
    }

    /// Who was started; nil: nobody, the program was not tried.
    package func process(of id: LaunchID) -> ProcessIdentity? {
        do throws(LinuxError) {
            return try main(of: id)
        } catch {
            return nil
        }
    }

    /// Who was started, of a launch that another daemon began; nil: nobody, and nobody will be. A
    /// child may live that has not yet marked itself.
    /// It lets go of the daemon's lock before it does, so another daemon may have begun by then.
    func settle(_ id: LaunchID) throws(LinuxError) -> ProcessIdentity? {
        if let process = try main(of: id) { return process }
        do throws(LinuxError) {
            try Program.voidMarker(path(of: id))
        } catch  where error.errno == .noEntry {
            return nil
        }
        return try main(of: id)
    }

    /// The same, where "not known" must not be taken for "nobody".
    func main(of id: LaunchID) throws(LinuxError) -> ProcessIdentity? {
        do throws(LinuxError) {
            return Self.identity(in: try Files.text(path(of: id), limit: Self.limit))
        } catch  where error.errno == .noEntry {
            return nil
        }
    }

    /// A launch has a line for each of its ends, and those are few.
    private static let limit = 1 << 16
    private static let until = "until "

    private static func identity(in text: String) -> ProcessIdentity? {
        var rest = text[...]
        while rest.hasPrefix(until), let end = rest.firstIndex(of: "\n") {
            rest = rest[rest.index(after: end)...]
        }
        return ProcessIdentity(marker: String(rest))
    }

    /// Until when the launch may run while no daemon lives; nil: no end is known.
    package func setDeadline(_ id: LaunchID, _ deadline: AwakeTime?) throws(LinuxError) {
        let file = try FileDescriptor(opening: path(of: id), [.writing, .append])
        try file.writeAll(Self.line(deadline))
    }

    private static func line(_ deadline: AwakeTime?) -> String {
        until + (deadline.map { "\($0.nanoseconds)" } ?? "-") + "\n"
    }

    package func deadline(of id: LaunchID) -> AwakeTime? {
        guard let text = try? Files.text(path(of: id), limit: Self.limit) else { return nil }
        let last = text.split(separator: "\n").last { $0.hasPrefix(Self.until) }
        return last.flatMap { Int64($0.dropFirst(Self.until.count)) }
            .map { AwakeTime(nanoseconds: $0) }
    }

    /// What a marker tells of a start that failed after it counted as done.
    package enum LateFailure: Equatable, Sendable {
        case execute(LinuxError)
        /// Nobody has put a name into it.
        case nobody
    }

    /// Nil: it did not fail, or is not known to have.
    package func failure(of id: LaunchID) -> LateFailure? {
        guard let text = try? Files.text(path(of: id), limit: Self.limit) else { return nil }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 3, words[0] == "failed", let step = Int32(words[1]),
                let number = Int32(words[2])
            {
                return .execute(LinuxError(Program.step(step), "", Errno(number)))
            }
        }
        return Self.identity(in: text) == nil ? .nobody : nil
    }

    package func remove(_ id: LaunchID) throws(LinuxError) {
        do throws(LinuxError) {
            try Files.remove(path(of: id))
        } catch  where error.errno == .noEntry {}
    }

    /// All that have a marker, in order.
    package func launches() -> [LaunchID] {
        (try? known()) ?? []
    }

    /// The same, where "not known" must not be taken for "none".
    func known() throws(LinuxError) -> [LaunchID] {
        try Files.list(directory).compactMap { LaunchName.id($0) }.sorted()
    }
}
