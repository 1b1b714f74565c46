internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The kernel's routes as the condition `network`: one that leads everywhere counts as on. Read
/// when the kernel reports a change.
@safe
final class NetworkRoutes {
    private let directory: String
    private let changed: (Reading) -> Void
    private var events: RouteEvents?
    private var source: DescriptorSource?
    private var last = Reading.silent
    private var readAt: BootTime?
    /// Why the routes are not known, or changes of them are not seen; nil: they are.
    private(set) var problem: LinuxError?

    init(_ loop: EventLoop, _ directory: String, changed: @escaping (Reading) -> Void) {
        (self.directory, self.changed) = (directory, changed)
        do throws(LinuxError) {
            let events = try RouteEvents()
            self.events = events
            source = try DescriptorSource(loop, events.descriptor.number, .readable) {
                [unowned self] _ in heard()
            }
        } catch {
            problem = error
        }
    }

    /// Nil: not known.
    var hasRoute: Bool? {
        switch last {
        case .value(let value): value != 0
        case .noDevice, .lost, .silent: nil
        }
    }

    private func heard() {
        if (try? events?.happened()) ?? true { look() }
    }

    /// What could not be read is tried again: the kernel says nothing of that.
    func refresh() {
        guard problem != nil, let readAt, Clocks.boot() - readAt >= Self.longestAge else { return }
        look()
    }

    private static let longestAge = Interval.seconds(10)

    func look() {
        let old = last
        if read() != old { changed(last) }
    }

    func read() -> Reading {
        // Without events a stale answer would be worse than none.
        guard source != nil else { return .silent }
        readAt = Clocks.boot()
        do throws(LinuxError) {
            let interfaces = try Routes.everywhere(in: directory)
            last = .value(interfaces.contains(where: Routes.runs) ? 2 : 0)
            problem = nil
        } catch {
            last = last.unread
            problem = error
        }
        return last
    }
}
