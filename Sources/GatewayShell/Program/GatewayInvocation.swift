package import CommandTable
package import Linux
import Vocabulary

/// One call of a subcommand of `offstage-gateway`: what was typed, and where it prints.
package struct GatewayInvocation: SubcommandCall {
    package let options: Options
    package let console: Console

    var places: GatewayPlaces {
        options["directory"].map { GatewayPlaces($0) } ?? .standard
    }

    func reader() throws(Failure) -> StoreReader {
        try GatewayPlaces.checkReadable(places.store)
        guard Files.exists(places.store) else {
            throw Failure(
                .notFound,
                "there is no store in \(places.directory.quoted)",
                fix: "\"offstage-gateway serve\" makes it at its first start."
            )
        }
        return try failing { try StoreReader(places.store) }
    }
}
