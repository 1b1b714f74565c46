import GatewayShell
import Linux
import TestKit

extension GatewayProcess {
    /// A gateway that limits no sender, with what `init` makes.
    static func makeGateway(in scratch: ScratchDirectory) throws -> GatewayPlaces {
        let places = GatewayPlaces(scratch("gateway"))
        let made = try Command(program, "init", "--directory=\(places.directory)").run()
        guard made.succeeded else { throw DidNotHappen(description: made.errors) }
        let limits = "token-burst = 100000000\ntoken-rate = 100000000\n"
        try Files.replace(places.settings, with: limits)
        return places
    }
}
