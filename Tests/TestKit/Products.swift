import Linux

/// The programs of this build, beside the test bundle.
package enum Products {
    /// The folder that holds the built programs.
    package static let directory: String = {
        let own = Files.linkTarget("/proc/self/exe") ?? "."
        // The bundle may be run by a helper of the toolchain: then it is named on the command line.
        for word in CommandLine.arguments where word.hasSuffix(".xctest") {
            return Files.directory(of: word)
        }
        return Files.directory(of: own)
    }()

    package static func path(of program: String) -> String { directory + "/" + program }
}
