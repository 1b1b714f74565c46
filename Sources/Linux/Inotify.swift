internal import Glibc

/// Watches on files and directories. Poll the descriptor for reading.
package struct Inotify: ~Copyable {
    package let descriptor: FileDescriptor

    package struct Mask: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let opened = Mask(rawValue: UInt32(IN_OPEN))
        package static let modified = Mask(rawValue: UInt32(IN_MODIFY))
        package static let attributes = Mask(rawValue: UInt32(IN_ATTRIB))
        package static let closedAfterWriting = Mask(rawValue: UInt32(IN_CLOSE_WRITE))
        package static let movedFrom = Mask(rawValue: UInt32(IN_MOVED_FROM))
        package static let movedTo = Mask(rawValue: UInt32(IN_MOVED_TO))
        package static let created = Mask(rawValue: UInt32(IN_CREATE))
        package static let removed = Mask(rawValue: UInt32(IN_DELETE))
        package static let selfRemoved = Mask(rawValue: UInt32(IN_DELETE_SELF))
        package static let selfMoved = Mask(rawValue: UInt32(IN_MOVE_SELF))
        /// Only when the path is a directory.
        package static let onlyDirectory = Mask(rawValue: UInt32(IN_ONLYDIR))
        package static let noFollow = Mask(rawValue: UInt32(IN_DONT_FOLLOW))
        /// In events: the watch is gone.
        package static let ignored = Mask(rawValue: UInt32(IN_IGNORED))
        /// In events: the kernel's queue was full and events were lost.
        package static let overflowed = Mask(rawValue: UInt32(IN_Q_OVERFLOW))
        /// Beside what the watch of the same file already has.
        package static let added = Mask(rawValue: UInt32(IN_MASK_ADD))
        package static let isDirectory = Mask(rawValue: UInt32(IN_ISDIR))

        /// A directory whose entries matter by name and content.
        package static let entries: Mask = [
            .closedAfterWriting, .movedFrom, .movedTo, .created, .removed, .attributes,
            .selfRemoved, .selfMoved,
        ]
    }

    package struct Event: Equatable, Sendable {
        /// What `add` returned; -1 with `overflowed`.
        package var watch: Int32
        package var mask: Mask
        /// The entry of a watched directory; empty for the watched path itself.
        package var name: String

        package init(watch: Int32, mask: Mask, name: String) {
            (self.watch, self.mask, self.name) = (watch, mask, name)
        }
    }

    package init() throws(LinuxError) {
        let flags = Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)
        descriptor = FileDescriptor(owning: try check(inotify_init1(flags), "inotify_init1"))
    }

    /// The watch of a path; the same number again for the same file, with the new mask.
    package func add(_ path: String, _ mask: Mask) throws(LinuxError) -> Int32 {
        try check(
            unsafe inotify_add_watch(descriptor.number, path, mask.rawValue),
            "inotify_add_watch",
            path
        )
    }

    package func remove(_ watch: Int32) throws(LinuxError) {
        try check(inotify_rm_watch(descriptor.number, watch), "inotify_rm_watch", "\(watch)")
    }

    /// What happened since the last call; empty when nothing did. `readings`: those who write
    /// without end must not keep us here; the rest comes with the next call.
    package func events(readings: Int = .max) throws(LinuxError) -> [Event] {
        var events: [Event] = []
        var count = 0
        while count < readings, let bytes = try descriptor.readAvailable(upTo: 16_384),
            !bytes.isEmpty
        {
            Self.parse(bytes, into: &events)
            count += 1
        }
        return events
    }

    /// Four numbers of 32 bits (watch, mask, cookie, length), then the name, padded with zeros.
    static func parse(_ bytes: [UInt8], into events: inout [Event]) {
        func number(_ at: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << (8 * UInt32($1)) }
        }
        var at = 0
        while at + 16 <= bytes.count {
            let length = Int(number(at + 12))
            guard at + 16 + length <= bytes.count else { return }
            let name = bytes[(at + 16)..<(at + 16 + length)].prefix { $0 != 0 }
            events.append(
                Event(
                    watch: Int32(bitPattern: number(at)),
                    mask: Mask(rawValue: number(at + 4)),
                    name: String(decoding: name, as: UTF8.self)
                )
            )
            at += 16 + length
        }
    }
}
