internal import EventLoop
internal import Linux
internal import Vocabulary

/// Sees the use of programs that know nothing of us (`UseFrom`): their executable is opened to be
/// run, or a file that they keep is written.
@safe
final class UseWatch {
    private let inotify: Inotify
    private var source: DescriptorSource?
    private var watches: [AppID: (path: String, watch: Int32)] = [:]

    init(_ loop: EventLoop, used: @escaping (AppID) -> Void) throws(LinuxError) {
        inotify = try Inotify()
        source = try DescriptorSource(loop, inotify.descriptor.number, .readable) {
            [unowned self] _ in
            guard let events = try? inotify.events() else { return }
            var seen: [AppID] = []
            for event in events {
                for (app, entry) in watches.sorted(by: { $0.key < $1.key })
                where entry.watch == event.watch && !seen.contains(app) {
                    seen.append(app)
                    if !event.mask.isDisjoint(with: [.selfRemoved, .selfMoved, .ignored]) {
                        renew(app, entry.path)
                    } else {
                        used(app)
                    }
                }
            }
        }
    }

    func watch(_ app: AppID, _ source: UseSource?) {
        if let old = watches.removeValue(forKey: app),
            !watches.values.contains(where: { $0.watch == old.watch })
        {
            try? inotify.remove(old.watch)
        }
        switch source {
        case .none: break
        case .exec(let path): add(app, path, [.opened, .selfRemoved, .selfMoved])
        case .file(let path):
            add(app, path, [.modified, .closedAfterWriting, .selfRemoved, .selfMoved])
        }
    }

    /// Programs replace their files: the path counts, not the file that it named.
    private func renew(_ app: AppID, _ path: String) {
        guard let entry = watches[app] else { return }
        let mask: Inotify.Mask = [
            .opened, .modified, .closedAfterWriting, .selfRemoved, .selfMoved,
        ]
        watches[app] = nil
        if let watch = try? inotify.add(entry.path, mask) { watches[app] = (path, watch) }
    }

    private func add(_ app: AppID, _ path: String, _ mask: Inotify.Mask) {
        guard let watch = try? inotify.add(path, mask) else { return }
        watches[app] = (path, watch)
    }
}
