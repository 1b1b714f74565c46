internal import EventLoop
internal import Linux

/// Watches of files and directories by the kernel. Opened with the first one; where the kernel has
/// no room for more watchers of this user, tried again with each.
@safe
final class FileWatches {
    private let loop: EventLoop
    /// Set by who owns this.
    var happened: ([Inotify.Event]) -> Void = { _ in }
    private var source: DescriptorSource?
    private var inotify: Inotify?
    /// Why changes may go unseen; nil: they do not.
    private(set) var problem: LinuxError?

    init(_ loop: EventLoop) { self.loop = loop }

    /// Before all that should be watched is added again.
    func forgetProblem() { problem = nil }

    /// nil: nothing is there, or nothing that we may see; or there is a problem.
    func add(_ path: String, _ mask: Inotify.Mask) -> Int32? {
        do throws(LinuxError) {
            try open()
            return try inotify?.add(path, mask)
        } catch  where error.errno == .noEntry || error.errno == .access {
            return nil
        } catch {
            problem = error
            return nil
        }
    }

    func remove(_ watch: Int32) {
        // Gone with its file, more often than not.
        try? inotify?.remove(watch)
    }

    private func open() throws(LinuxError) {
        guard source == nil else { return }
        let opened = try Inotify()
        source = try DescriptorSource(loop, opened.descriptor.number, .readable) {
            [unowned self] _ in
            guard let events = try? inotify?.events() else { return }
            happened(events)
        }
        inotify = consume opened
    }
}
