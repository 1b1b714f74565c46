internal import Glibc

/// Waiting for descriptors without a loop.
package enum Poll {
    package struct Events: OptionSet, Sendable {
        package let rawValue: Int16
        package init(rawValue: Int16) { self.rawValue = rawValue }
        package static let readable = Events(rawValue: Int16(POLLIN))
        package static let writable = Events(rawValue: Int16(POLLOUT))
        /// Out of band; files of the kernel: changed since they were last read.
        package static let priority = Events(rawValue: Int16(POLLPRI))
        package static let error = Events(rawValue: Int16(POLLERR))
        package static let hangUp = Events(rawValue: Int16(POLLHUP))
    }

    /// Waits until at least one is ready or the time is over (nil: for ever). What is ready, in
    /// the order asked; all empty when the time was over or a signal came.
    package static func wait(
        for descriptors: [(number: Int32, events: Events)],
        milliseconds: Int32? = nil
    ) throws(LinuxError) -> [Events] {
        var polled = descriptors.map {
            pollfd(fd: $0.number, events: $0.events.rawValue, revents: 0)
        }
        let count = nfds_t(polled.count)
        do throws(LinuxError) {
            try check(unsafe poll(&polled, count, milliseconds ?? -1), "poll")
        } catch  where error.errno == .interrupted {
            return descriptors.map { _ in [] }
        }
        return polled.map { Events(rawValue: $0.revents) }
    }

    /// Whether one descriptor is ready within the time.
    package static func ready(_ number: Int32, for events: Events, milliseconds: Int32?) -> Bool {
        let result = try? wait(for: [(number, events)], milliseconds: milliseconds)
        return result.map { !$0[0].isEmpty } ?? false
    }
}
