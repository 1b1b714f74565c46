internal import EventLoop
internal import Linux
internal import Vocabulary

/// Sees the use of programs that know nothing of us (`UseFrom`): somebody runs their executable,
/// or a file that they keep is written. The path counts, not the file that it names: programs
/// replace their files, and begin without them.
@safe
final class UseWatch {
    private let kernel: FileWatches
    private var entries: [Entry] = []
    private let used: (AppID) -> Void
    private let isOurs: (Int32) -> Bool
    private let nearest: (String) -> String
    /// Whose executable was opened, until it is looked who runs it.
    private var opened: Set<AppID> = []
    private var timer: TimerSource?

    /// A backup or an indexer opens an executable as well; who runs it does so for longer. What
    /// ends sooner was not looked at by anybody.
    private static let delay = Interval.seconds(1)
    /// How often `renew` looks for a nearer directory.
    private static let mostRounds = 8

    private struct Entry {
        let app: AppID
        let source: UseSource
        /// Of the file, while it is there.
        var file: Int32?
        /// Of its directory, or of the nearest one above that is there.
        var directory: Int32?
        var isNearest = false
        /// Of an executable; nil: it is no script.
        var firstLine: RunningProgram.FirstLine?

        var path: String {
            switch source {
            case .exec(let path), .file(let path): path
            }
        }
        var name: String { String(path.split(separator: "/").last ?? "") }

        var mask: Inotify.Mask {
            switch source {
            case .exec: [.opened, .closedAfterWriting, .added]
            case .file: [.modified, .closedAfterWriting, .added]
            }
        }

        /// Whether what happened to the file is a use.
        func isUse(_ mask: Inotify.Mask) -> Bool {
            switch source {
            case .exec: mask.contains(.opened)
            case .file: !mask.isDisjoint(with: [.modified, .closedAfterWriting])
            }
        }

        /// Whether it may have another interpreter.
        func isRewritten(_ mask: Inotify.Mask) -> Bool {
            switch source {
            case .exec: mask.contains(.closedAfterWriting)
            case .file: false
            }
        }

        /// Whether it is a use that the file appears: it was written elsewhere and put there.
        var isUsedByAppearing: Bool {
            switch source {
            case .exec: false
            case .file: true
            }
        }
    }

    /// `isOurs`: whether a process belongs to a launch. `nearest`: finds the directory to watch.
    init(
        _ loop: EventLoop,
        isOurs: @escaping (Int32) -> Bool,
        nearest: @escaping (String) -> String = Files.nearestDirectory,
        used: @escaping (AppID) -> Void
    ) throws(LinuxError) {
        (self.isOurs, self.nearest, self.used) = (isOurs, nearest, used)
        kernel = FileWatches(loop)
        timer = try TimerSource(loop) { [unowned self] in look() }
        kernel.happened = { [unowned self] in handle($0) }
    }

    /// Why uses may go unseen; nil: they do not.
    var problem: LinuxError? { kernel.problem }

    /// Who of those that were opened is run by somebody.
    private func look() {
        let due = opened
        opened.removeAll()
        for entry in entries where due.contains(entry.app) {
            let processes = RunningProgram.processes(of: entry.path, entry.firstLine)
            if processes.contains(where: { !isOurs($0) }) { used(entry.app) }
        }
    }

    private func lookSoon(_ app: AppID) {
        if opened.isEmpty { try? timer?.arm(at: Clocks.boot() + Self.delay) }
        opened.insert(app)
    }

    /// Tries again to watch what the kernel would not.
    func renew() {
        guard problem != nil else { return }
        kernel.forgetProblem()
        for index in entries.indices { renew(index) }
    }

    /// Whether something of its own tells of an app's use.
    func watches(_ app: AppID) -> Bool { entries.contains { $0.app == app } }

    func watch(_ app: AppID, _ source: UseSource?) {
        if let index = entries.firstIndex(where: { $0.app == app }) {
            let old = entries.remove(at: index)
            drop(old.file)
            drop(old.directory)
        }
        guard let source else { return }
        entries.append(Entry(app: app, source: source))
        entries.sort { $0.app < $1.app }
        if let index = entries.firstIndex(where: { $0.app == app }) { renew(index) }
    }

    private func handle(_ events: [Inotify.Event]) {
        var seen: [AppID] = []
        for index in entries.indices {
            var isUsed = false
            var isStale = false
            for event in events {
                let entry = entries[index]
                if event.watch == entry.file {
                    isUsed = isUsed || entry.isUse(event.mask)
                    isStale =
                        isStale || event.mask.contains(.ignored) || entry.isRewritten(event.mask)
                } else if event.watch == entry.directory {
                    let isIt = !entry.isNearest && event.name == entry.name
                    isUsed = isUsed || isIt && entry.isUsedByAppearing
                    isStale = isStale || isIt || entry.isNearest || event.name.isEmpty
                } else if event.mask.contains(.overflowed) {
                    isStale = true
                }
            }
            if isStale, renew(index) { isUsed = true }
            guard isUsed else { continue }
            switch entries[index].source {
            case .exec: lookSoon(entries[index].app)
            case .file: seen.append(entries[index].app)
            }
        }
        for app in seen { used(app) }
    }

    /// Watches what the path names now. True: the file has appeared in a directory that was not
    /// there before, and that is a use.
    @discardableResult
    private func renew(_ index: Int) -> Bool {
        let old = entries[index]
        let above = Files.directory(of: old.path)
        var directory = nearest(above)
        let mask: Inotify.Mask = [.created, .movedTo, .selfRemoved, .selfMoved, .added]
        // The directory first, so that no file appears between.
        entries[index].directory = kernel.add(directory, mask)
        // One further down came before that was watched. What comes and goes all the time is seen
        // from here.
        for _ in 0..<Self.mostRounds {
            let now = nearest(above)
            guard now != directory else { break }
            let passed = entries[index].directory
            (directory, entries[index].directory) = (now, kernel.add(now, mask))
            drop(passed)
        }
        entries[index].isNearest = directory != above
        // Before it is watched: to read it is to open it. Once more if it was written meanwhile.
        let before = Files.status(old.path)
        readFirstLine(index)
        entries[index].file = kernel.add(old.path, old.mask)
        if Files.status(old.path) != before { readFirstLine(index) }
        drop(old.file)
        drop(old.directory)
        return old.isNearest && old.isUsedByAppearing && entries[index].file != nil
    }

    private func readFirstLine(_ index: Int) {
        guard case .exec(let path) = entries[index].source else { return }
        entries[index].firstLine = RunningProgram.FirstLine(of: path)
    }

    /// Unless it is somebody's.
    private func drop(_ watch: Int32?) {
        guard let watch, !entries.contains(where: { $0.file == watch || $0.directory == watch })
        else { return }
        kernel.remove(watch)
    }
}
