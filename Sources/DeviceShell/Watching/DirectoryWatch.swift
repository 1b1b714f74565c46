internal import EventLoop
internal import Linux

/// Watches directories and says when to look again.
@safe
final class DirectoryWatch {
    private let kernel: FileWatches
    private var watches: [String: Int32] = [:]
    /// Of each watch: the entries that matter; nil: all.
    private var names: [Int32: Set<String>?] = [:]

    /// A directory, with the entry that matters in it; nil: all do.
    struct Target: Equatable {
        var directory: String
        var name: String?
        /// Whether only the coming of the entry matters, not what is written into it.
        var isAbove = false

        fileprivate var mask: Inotify.Mask {
            isAbove
                ? [.created, .movedTo, .selfRemoved, .selfMoved]
                : [.entries, .closedAfterWriting, .selfRemoved, .selfMoved]
        }

        /// Where something at `path` would be seen to change, or to come.
        static func of(_ path: String) -> Target {
            let directory = Files.directory(of: path)
            let nearest = Files.nearestDirectory(directory)
            guard nearest != directory else {
                return Target(directory: directory, name: Files.name(of: path))
            }
            return above(path, nearest)
        }

        /// The same for a directory, all entries of which matter.
        static func entries(of directory: String) -> Target {
            let nearest = Files.nearestDirectory(directory)
            return nearest == directory ? Target(directory: directory) : above(directory, nearest)
        }

        /// Where the file at `path` would be seen to change, wherever links lead from there.
        static func chain(_ path: String) -> [Target] {
            var targets = [of(path)]
            var next = path
            // As many links as the kernel follows.
            while targets.count <= 40, let target = Files.linkTarget(next) {
                next = target.hasPrefix("/") ? target : Files.directory(of: next) + "/" + target
                targets.append(of(next))
            }
            return targets
        }

        /// Where the rights of a directory that we may not watch would be seen to change: in the
        /// one above it, or above the nearest one that keeps us from seeing it. Nil: it is gone.
        fileprivate static func rights(of directory: String) -> Target? {
            var path = directory
            while Files.status(path, followLinks: false) == nil {
                guard path != "/", path != ".", !Files.isMissing(path) else { return nil }
                path = Files.directory(of: path)
            }
            return Target(directory: Files.directory(of: path), name: Files.name(of: path))
        }

        private static func above(_ path: String, _ nearest: String) -> Target {
            let rest = path.utf8.dropFirst(nearest == "/" ? 1 : nearest.utf8.count + 1)
            let name = String(decoding: rest.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
            return Target(directory: nearest, name: name, isAbove: true)
        }
    }

    init(_ loop: EventLoop, changed: @escaping () -> Void) {
        kernel = FileWatches(loop)
        kernel.happened = { [unowned self] events in
            if events.contains(where: matters) { changed() }
        }
    }

    /// Why changes may go unseen; nil: they do not.
    var problem: LinuxError? { kernel.problem }

    /// How often `watch` determines what to watch, should that change all the time: by then the
    /// changes are seen by what is watched already.
    private static let mostRounds = 8

    /// Watches these and no others. They are determined again once they are watched: a directory
    /// that came meanwhile came unseen, and so would all that is put into it.
    func watch(_ targets: () -> [Target]) {
        var wanted = targets()
        for _ in 1..<Self.mostRounds {
            add(wanted)
            let now = targets()
            guard now != wanted else { return }
            wanted = now
        }
        add(wanted)
    }

    private func add(_ targets: [Target]) {
        kernel.forgetProblem()
        var targets = targets
        for target in targets where !Files.isReadable(target.directory) {
            if let rights = Target.rights(of: target.directory) { targets.append(rights) }
        }
        let wanted = Set(targets.map(\.directory))
        for (path, watch) in watches.sorted(by: { $0.key < $1.key }) where !wanted.contains(path) {
            kernel.remove(watch)
            watches[path] = nil
        }
        names.removeAll()
        for target in targets {
            // A directory that vanished meanwhile, or that we may not read, is seen from the one
            // above it. Two paths may lead to one directory, and then have one watch.
            guard let watch = kernel.add(target.directory, [target.mask, .added]) else { continue }
            watches[target.directory] = watch
            if let name = target.name, let known = names[watch, default: []] {
                names[watch] = .some(known.union([name]))
            } else {
                names[watch] = .some(nil)
            }
        }
    }

    /// An overflow is a change like others, and so is the end of what is watched: all is read anew.
    private func matters(_ event: Inotify.Event) -> Bool {
        guard event.watch >= 0 else { return true }
        // Of a watch that we took away ourselves.
        guard let known = names[event.watch] else { return false }
        guard !event.name.isEmpty, let wanted = known else { return true }
        return wanted.contains(event.name)
    }
}
