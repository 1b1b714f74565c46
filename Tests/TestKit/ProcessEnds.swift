import Linux

/// Whether this kernel tells how a process ended to those that are not its parent.
package enum ProcessEnds {
    package static let areTold = (try? look()) ?? false

    private static func look() throws -> Bool {
        let process = try Program("/bin/true", arguments: ["true"], environment: []).start()
        _ = try process.wait(block: true)
        return process.end != nil
    }
}
