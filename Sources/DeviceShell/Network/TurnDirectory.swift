internal import EventLoop
internal import Linux

/// The directory that was used last, open until the turn is over: the files of many transfers go
/// to the same one.
@safe
final class TurnDirectory {
    private let loop: EventLoop
    private var last: Opened?
    private var closing: DeferredSource?

    final class Opened {
        let path: String
        let directory: OpenDirectory

        init(_ path: String) throws(LinuxError) {
            self.path = path
            directory = try OpenDirectory(path)
        }
    }

    init(_ loop: EventLoop) { self.loop = loop }

    func open(_ path: String) throws(LinuxError) -> Opened {
        if let last, last.path == path { return last }
        let opened = try Opened(path)
        if closing == nil {
            closing = try? DeferredSource(loop) { [unowned self] in (last, closing) = (nil, nil) }
        }
        // Kept only if there is something that ends it.
        last = closing == nil ? nil : opened
        return opened
    }
}
