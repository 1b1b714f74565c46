internal import EventLoop
internal import Linux

/// Watches directories and says when to look again.
@safe
final class DirectoryWatch {
    private let loop: EventLoop
    private let changed: () -> Void
    private var inotify: Inotify?
    private var source: DescriptorSource?
    private var watches: [String: Int32] = [:]
    /// Of each watch: the entries that matter; nil: all.
    private var names: [Int32: Set<String>?] = [:]
    /// Why changes may go unseen; nil: they do not.
    private(set) var problem: LinuxError?

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

        private static func above(_ path: String, _ nearest: String) -> Target {
            let rest = path.utf8.dropFirst(nearest == "/" ? 1 : nearest.utf8.count + 1)
            let name = String(decoding: rest.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
            return Target(directory: nearest, name: name, isAbove: true)
        }
    }

    init(_ loop: EventLoop, changed: @escaping () -> Void) {
        (self.loop, self.changed) = (loop, changed)
    }

    /// Watches these and no others.
    func watch(_ targets: [Target]) {
        problem = nil
        guard open() else { return }
        let wanted = Set(targets.map(\.directory))
        for (path, watch) in watches.sorted(by: { $0.key < $1.key }) where !wanted.contains(path) {
            // Gone with its directory, more often than not.
            try? inotify?.remove(watch)
            watches[path] = nil
        }
        names.removeAll()
        for target in targets {
            do throws(LinuxError) {
                // Two paths may lead to one directory, and then have one watch.
                guard let watch = try inotify?.add(target.directory, [target.mask, .added]) else {
                    return
                }
                watches[target.directory] = watch
                if let name = target.name, let known = names[watch, default: []] {
                    names[watch] = .some(known.union([name]))
                } else {
                    names[watch] = .some(nil)
                }
            } catch  where error.errno == .noEntry || error.errno == .access {
                // A directory that vanished meanwhile is seen from the one above it; one that we
                // may not see into has nothing for us.
            } catch {
                problem = error
            }
        }
    }

    /// False: the kernel has no room for more watchers of this user; tried again each time.
    private func open() -> Bool {
        guard source == nil else { return true }
        do throws(LinuxError) {
            let opened = try Inotify()
            source = try DescriptorSource(loop, opened.descriptor.number, .readable) {
                [unowned self] _ in
                guard let events = try? inotify?.events() else { return }
                if events.contains(where: matters) { changed() }
            }
            inotify = consume opened
            return true
        } catch {
            problem = error
            return false
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
