@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// What is not in its place any more is seen, also where the directory alone is looked at.
struct StateDirectoryTests {
    private let scratch = ScratchDirectory()
    private let paths: DaemonPaths
    private let state: StateDirectory

    init() throws {
        paths = DaemonPaths(
            state: scratch("state"),
            runtime: scratch("run"),
            configuration: scratch("configuration"),
            applications: [],
            home: scratch.path
        )
        state = try StateDirectory(paths)
        for path in [paths.database, paths.database + "-wal"] {
            try Files.replace(path, with: "first", permissions: 0o600)
        }
        try state.know()
        try setOldTime()
        // Hours pass between any two looks.
        var now = Clocks.boot()
        state.clock = {
            now = now + .hours(1)
            return now
        }
        for _ in 0..<2 { try #require(state.loss == nil) }
        try #require(state.isIntact)
    }

    /// Of the directory's last change, as a program gives it that brings a backup back.
    private func setOldTime() throws {
        try OpenDirectory(scratch.path).setModified(1_600_000_000, of: "state")
    }

    @Test func `after a change each file is looked at until the next has another time`() throws {
        var now = Clocks.boot()
        state.clock = { now }
        try Files.replace(paths.state + "/other", with: "")
        let changed = try #require(Files.status(paths.state)).changed
        #expect(state.loss == nil && !state.isIntact)
        now = now + StateDirectory.settling(changed)
        #expect(state.loss == nil && !state.isIntact)
        now = now + .milliseconds(1)
        #expect(state.loss == nil && state.isIntact)
        // Of a file system that counts in seconds, or in hundredths.
        #expect(StateDirectory.settling(1_600_000_000_000_000_000) == .seconds(3))
        #expect(StateDirectory.settling(1_600_000_000_120_000_000) == .seconds(3))
        #expect(StateDirectory.settling(1_600_000_000_124_000_000) == .milliseconds(100))
    }

    @Test func `the loss of a file is seen, and another file in its place`() throws {
        try Files.remove(paths.database)
        #expect(state.loss?.kind == .deleted)
        try Files.replace(paths.database, with: "another", permissions: 0o600)
        try setOldTime()
        #expect(state.loss?.kind == .replaced)
    }

    @Test func `another database with the old name and the old time is another`() throws {
        try Files.replace(paths.database, with: "another", permissions: 0o600)
        try setOldTime()
        for _ in 0..<2 { #expect(state.loss?.kind == .replaced) }
    }

    @Test func `a file that was moved away is seen to be gone until it is back`() throws {
        try Files.rename(paths.database, to: scratch("away"))
        #expect(state.loss?.kind == .moved)
        try Files.rename(scratch("away"), to: paths.database)
        for _ in 0..<2 { #expect(state.loss == nil) }
        try Files.remove(paths.lock)
        #expect(state.loss?.kind == .deleted)
    }

    @Test func `the loss of the directory is seen, and another one in its place`() throws {
        try Files.rename(paths.state, to: scratch("away"))
        #expect(state.loss?.path == paths.state)
        try Files.makeDirectory(paths.state, permissions: 0o700)
        #expect(state.loss != nil)
        try Files.removeTree(paths.state)
        try Files.rename(scratch("away"), to: paths.state)
        #expect(state.loss == nil)
    }

    @Test func `the loss of what a link leads to is seen`() throws {
        try Files.removeTree(paths.logs)
        try Files.makeDirectory(scratch("elsewhere"), permissions: 0o700)
        try #require(Command("ln", "-s", scratch("elsewhere"), paths.logs).run().succeeded)
        try state.know()
        for _ in 0..<2 { #expect(state.loss == nil) }
        try Files.removeTree(scratch("elsewhere"))
        #expect(state.loss == StateLoss(kind: .deleted, path: paths.logs))
    }
}
