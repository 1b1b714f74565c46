package import Linux
import Vocabulary

/// A test waited for something that did not come. The limit only bounds a failing test: what is
/// waited for arrives by an event, never by the time being over.
package struct DidNotHappen: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// Waiting for events of the system, without sleeping.
package enum Wait {
    /// After this long a test gives up. On a busy machine background apps may get almost no
    /// processor time for a minute.
    package static let limitMilliseconds: Int32 = 300_000

    package static func until(
        readable descriptor: Int32,
        _ what: @autoclosure () -> String = "descriptor readable",
        events: Poll.Events = .readable
    ) throws {
        guard Poll.ready(descriptor, for: events, milliseconds: limitMilliseconds) else {
            throw DidNotHappen(description: what())
        }
    }

    /// Until a file's text is as wanted; its directory must exist. Wakes at every change in it.
    @discardableResult
    package static func until(
        file path: String,
        _ what: @autoclosure () -> String = "file as wanted",
        _ isWanted: (String) -> Bool = { _ in true }
    ) throws -> String {
        let watch = try Inotify()
        let mask: Inotify.Mask = [
            .modified, .closedAfterWriting, .created, .movedTo, .removed, .movedFrom, .attributes,
        ]
        _ = try watch.add(Files.directory(of: path), mask)
        while true {
            if let text = try? Files.text(path, limit: 1 << 26), isWanted(text) { return text }
            try until(readable: watch.descriptor.number, "\(what()): \(path)")
            _ = try watch.events()
        }
    }

    /// Until a file of the kernel that reports its changes (`cgroup.events`) is as wanted.
    @discardableResult
    package static func until(
        kernelFile path: String,
        _ what: @autoclosure () -> String = "file as wanted",
        _ isWanted: (String) -> Bool
    ) throws -> String {
        let file = try FileDescriptor(opening: path, .reading)
        while true {
            let text = String(decoding: try file.read(at: 0, count: 65_536), as: UTF8.self)
            if isWanted(text) { return text }
            try until(readable: file.number, "\(what()): \(path)", events: .priority)
        }
    }

    /// Until processes have ended; those that are our children are reaped. Judged by pidfd: a
    /// number that belongs to a later process does not count.
    package static func untilGone(_ identities: [ProcessIdentity]) throws {
        for identity in identities {
            guard let process = try? PidFD(of: identity) else { continue }
            try until(readable: process.descriptor.number, "end of process \(identity.pid)")
            _ = try process.wait(block: false)
        }
    }

    package static func untilGone(_ identity: ProcessIdentity) throws {
        try untilGone([identity])
    }

    /// Until a condition holds. `step` does or waits for what changes it; without one, it is looked
    /// at again and again: for what says nothing when it changes.
    package static func until(
        _ what: @autoclosure () -> String,
        _ condition: () throws -> Bool,
        step: () throws -> Void = pause
    ) throws {
        let end = Clocks.boot().nanoseconds + Int64(limitMilliseconds) * 1_000_000
        while try !condition() {
            guard Clocks.boot().nanoseconds < end else { throw DidNotHappen(description: what()) }
            try step()
        }
    }

    /// Not busily: whoever is waited for may need the processor.
    package static func pause() throws {
        _ = try Poll.wait(for: [], milliseconds: 10)
    }
}
