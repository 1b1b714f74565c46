import Glibc
import Linux
import TestKit

/// `offstage port` on a large project.
struct PortGroup {
    private static let files = 10_000
    private static let rounds = 5

    /// The sources of this tree, again and again: Swift as it is written.
    private static func fill(_ project: ScratchDirectory) throws -> Int {
        let patterns = ["Sources/*/*.swift", "Sources/*/*/*.swift", "Examples/*/*.swift"]
        let texts = try patterns.flatMap { Files.matching($0) }.map { try Files.read($0) }
        guard !texts.isEmpty else { return 0 }
        var bytes = 0
        for number in 0..<files {
            let folder = project("\(number / 100)")
            if number % 100 == 0 { try Files.makeDirectory(folder) }
            let text = texts[number % texts.count]
            project.write(text, to: "\(number / 100)/\(number).swift")
            bytes += text.count
        }
        return bytes
    }

    func run() throws -> [Figure] {
        let project = ScratchDirectory()
        let bytes = try Self.fill(project)
        // What a person without the program would look for.
        let words = [
            "UIApplication", "BGTaskScheduler", "URLSession", "selector", "objc", "addObserver",
            "canImport", "Combine",
        ]
        let search = ["grep", "-r", "-w", "-n"] + words.flatMap { ["-e", $0] } + [project.path]
        let port = [Products.path(of: "offstage"), "port", project.path]
        var (ours, peer): ([Double], [Double]) = ([], [])
        for _ in 0..<Self.rounds {
            ours.append(try Self.seconds(port))
            peer.append(try Self.seconds(search))
        }
        return [
            Figure(
                name: "port, \(Self.files) files with \(bytes >> 20) MiB",
                unit: "s",
                ours: ours.median,
                peer: peer.median,
                peerName: "grep -r -w for eight words",
                limit: .atMost(5)
            )
        ]
    }

    private static func seconds(_ arguments: [String]) throws -> Double {
        let nanoseconds = try timed {
            let outcome = try Command(arguments).run()
            guard case .exited(0...1) = outcome.status, !outcome.output.isEmpty else {
                throw DidNotHappen(description: "\(arguments): \(outcome.errors)")
            }
        }
        return nanoseconds / 1e9
    }
}
