internal import EventLoop
internal import Linux

/// Watches directories and says when to look again.
@safe
final class DirectoryWatch {
    private let inotify: Inotify
    private var source: DescriptorSource?
    private var watches: [String: Int32] = [:]

    init(_ loop: EventLoop, changed: @escaping () -> Void) throws(LinuxError) {
        inotify = try Inotify()
        source = try DescriptorSource(loop, inotify.descriptor.number, .readable) {
            [unowned self] _ in
            // An overflow is a change like others: all is read anew.
            guard let events = try? inotify.events(), !events.isEmpty else { return }
            changed()
        }
    }

    /// Watches these and no others.
    func watch(_ paths: [String]) {
        for (path, watch) in watches.sorted(by: { $0.key < $1.key }) where !paths.contains(path) {
            // Gone with its directory, more often than not.
            try? inotify.remove(watch)
            watches[path] = nil
        }
        for path in paths {
            let mask: Inotify.Mask = [.entries, .closedAfterWriting, .selfRemoved, .selfMoved]
            // A directory that vanished meanwhile is seen from the one above it.
            if let watch = try? inotify.add(path, mask) { watches[path] = watch }
        }
    }
}
