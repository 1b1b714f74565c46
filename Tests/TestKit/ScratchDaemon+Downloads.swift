package import Linux

extension ScratchDaemon {
    /// Runs the command line in the home directory.
    package func offstage(_ words: String...) throws -> Command.Outcome { try offstage(words) }

    package func offstage(_ words: [String]) throws -> Command.Outcome {
        var command = Command([Products.path(of: "offstage")] + words + ["--socket", socket])
        command.directory = scratch("home")
        return try command.run()
    }

    /// The network process; nil: there is none.
    package func networkProcess() throws -> ProcessIdentity? {
        guard let parent = identity?.pid else { return nil }
        return try Files.list("/proc").compactMap { Int32($0) }.first {
            let status = ProcessStatus(of: $0)
            return status?.parent == parent && status?.name == "offstage-net"
        }.flatMap { ProcessIdentity(of: $0) }
    }
}
