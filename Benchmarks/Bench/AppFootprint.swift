import Linux
import TestKit

/// What `import Offstage` and a registered handler add to an app that does nothing.
struct AppFootprint {
    /// Seconds until both are idle: threads of libdispatch that have nothing to do end after 5.
    static let settling: Int32 = 10

    private let builds: [(name: String, linked: String, plain: String)]

    /// Throws when a program has not been built.
    init() throws {
        let (linked, plain) = (BenchPrograms.linked, BenchPrograms.plain)
        builds = [
            ("runtime linked in", linked, plain),
            (
                "shared runtime", try BenchPrograms.dynamic(linked),
                try BenchPrograms.dynamic(plain)
            ),
        ]
    }

    func figures() throws -> [Figure] {
        try builds.flatMap { try figures($0.name, $0.linked, $0.plain) }
    }

    /// The app is opened by a daemon of its own, the plain one started by hand.
    private func figures(
        _ build: String,
        _ linked: String,
        _ plain: String
    ) throws -> [Figure] {
        let app = try MeasuredApp(linked)
        try app.open()
        let pid = try app.pid()
        let peer = try Command(plain).start()
        defer {
            try? peer.send(Signal.kill)
            _ = try? peer.wait(block: true)
        }
        pause(Self.settling)
        let ours = ProcessFields(of: pid)
        let theirs = ProcessFields(of: peer.pid)
        let sizes = try [linked, plain].map { try size($0, in: app.daemon.scratch) }
        let name = "Foundation app that does nothing"
        return [
            Figure(
                name: "app, resident, \(build)",
                unit: "MB",
                ours: ours["VmRSS"] / 1024,
                peer: theirs["VmRSS"] / 1024,
                peerName: name
            ),
            Figure(
                name: "app, threads, \(build)",
                unit: "",
                ours: ours["Threads"],
                peer: theirs["Threads"],
                peerName: name,
                limit: .atMost(theirs["Threads"] + 1)
            ),
            Figure(
                name: "app, size of the program, stripped, \(build)",
                unit: "MB",
                ours: sizes[0],
                peer: sizes[1],
                peerName: name
            ),
        ]
    }

    private func size(_ program: String, in scratch: ScratchDirectory) throws -> Double {
        let copy = scratch("stripped")
        let outcome = try Command("strip", "-o", copy, program).run()
        guard outcome.succeeded, let size = Files.status(copy)?.size else {
            throw DidNotHappen(description: "strip \(program): \(outcome.errors)")
        }
        return Double(size) / 1_048_576
    }
}
