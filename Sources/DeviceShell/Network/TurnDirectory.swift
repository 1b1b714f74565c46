internal import EventLoop
internal import Linux

/// The directory that was used last, open until the turn is over: the files of many transfers go
/// to the same one. Whoever needs it for longer shares it with the others that do.
@safe
final class TurnDirectory {
    private let loop: EventLoop
    private var last: (path: String, opened: Opened)?
    private var shared: [Identity: Shared] = [:]
    private var closing: DeferredSource?

    final class Opened {
        let directory: OpenDirectory

        init(_ directory: consuming OpenDirectory) { self.directory = directory }
    }

    /// What a path leads to, which may be another one the next time.
    private struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    private struct Shared {
        weak var opened: Opened?
    }

    init(_ loop: EventLoop) { self.loop = loop }

    func open(_ path: String) throws(LinuxError) -> Opened {
        if let last, last.path == path { return last.opened }
        let opened = try share(OpenDirectory(path))
        if closing == nil {
            closing = try? DeferredSource(loop) { [unowned self] in endTurn() }
        }
        // Kept only if there is something that ends it.
        last = closing == nil ? nil : (path, opened)
        return opened
    }

    private func share(_ directory: consuming OpenDirectory) throws(LinuxError) -> Opened {
        let status = try directory.descriptor.status()
        let identity = Identity(device: status.device, inode: status.inode)
        if let opened = shared[identity]?.opened { return opened }
        let opened = Opened(directory)
        shared[identity] = Shared(opened: opened)
        return opened
    }

    private func endTurn() {
        (last, closing) = (nil, nil)
        shared = shared.filter { $0.value.opened != nil }
    }
}
