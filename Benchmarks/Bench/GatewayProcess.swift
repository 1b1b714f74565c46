import GatewayShell
import Linux
import TestKit

extension GatewayProcess {
    /// A gateway that limits no sender, with what `init` makes.
    static func makeGateway(in scratch: ScratchDirectory) throws -> GatewayPaths {
        let paths = GatewayPaths(scratch("gateway"))
        let made = try Command(program, "init", "--directory=\(paths.directory)").run()
        guard made.succeeded else { throw DidNotHappen(description: made.errors) }
        let limits = "token-burst = 100000000\ntoken-rate = 100000000\n"
        try Files.replace(paths.settings, with: limits)
        return paths
    }
}
