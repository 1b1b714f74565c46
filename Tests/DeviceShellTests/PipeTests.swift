import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// A named pipe where a file is to be: whoever reads it must not wait for a writer.
struct PipeTests {
    let scratch = ScratchDirectory()

    private func pipe(_ name: String) throws -> String {
        #expect(try Command("mkfifo", scratch(name)).run().succeeded)
        return scratch(name)
    }

    @Test func `a result is not read from it`() throws {
        let path = try pipe("result")
        #expect(ResultFile.read(path) == .unreadable(reason: "\(path) is not a file"))
    }

    @Test func `settings are not read from it`() throws {
        guard case .failure(let problems) = SettingsFile.read(try pipe("offstage.conf")) else {
            Issue.record("read as settings")
            return
        }
        #expect(problems.diagnostics.count == 1)
    }

    @Test func `a file that is swapped for one between the look and the reading does no harm`()
        throws
    {
        let path = try pipe("swapped")
        #expect(throws: LinuxError("read", path, .invalid)) {
            try Files.readRegular(path, limit: 100)
        }
    }
}
