import CFaultyDisk

/// A file system for SQLite that fails when told to, and can lose power.
///
/// Each test has its own and uses it from one thread. Connections are opened with its `name`.
@safe
package final class FaultyDisk {
    package struct Calls: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let open = Calls(rawValue: FAULTY_OPEN)
        package static let write = Calls(rawValue: FAULTY_WRITE)
        package static let truncate = Calls(rawValue: FAULTY_TRUNCATE)
        package static let sync = Calls(rawValue: FAULTY_SYNC)
        package static let delete = Calls(rawValue: FAULTY_DELETE)
        package static let read = Calls(rawValue: FAULTY_READ)
        /// All that change something.
        package static let changes: Calls = [.open, .write, .truncate, .sync, .delete]
    }

    /// Results of SQLite, extended where the real file system gives such.
    package enum Failure: Int32, Sendable {
        case full = 13
        case ioRead = 266
        case ioWrite = 778
        case ioSync = 1034
        case cannotOpen = 14
    }

    package let name: String
    private let disk: OpaquePointer

    package init() {
        name = "faulty-\(UInt64.random(in: 0...UInt64.max))"
        guard let made = faulty_disk_new(name) else { fatalError("no faulty disk") }
        disk = made
    }

    deinit { faulty_disk_free(disk) }

    /// Counts calls among `calls` from now on; the `nth` fails, and later ones too if `forever`.
    package func fail(
        _ calls: Calls = .changes,
        nth: UInt64,
        with failure: Failure,
        forever: Bool = false
    ) {
        faulty_disk_fail(disk, calls.rawValue, nth, failure.rawValue, forever ? 1 : 0)
    }

    /// Counts calls from now on and lets all of them through.
    package func heal(counting calls: Calls = .changes) {
        faulty_disk_fail(disk, calls.rawValue, 0, 0, 0)
    }

    /// Calls since the last `fail` or `heal`.
    package var calls: UInt64 { faulty_disk_calls(disk) }

    /// Takes back what was not synced: all of it, or sector by sector as the seed says.
    /// Every connection must be closed before, with the disk failing forever.
    package func losePower(seed: UInt64 = 0) {
        guard faulty_disk_lose_power(disk, seed) == 0 else { fatalError("cannot lose power") }
    }
}
