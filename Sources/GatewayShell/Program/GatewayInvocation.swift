package import CommandTable
package import Linux
import Vocabulary

/// One call of a subcommand of `offstage-gateway`: what was typed, and where it prints.
package struct GatewayInvocation: SubcommandCall {
    package let options: Options
    package let console: Console

    var paths: GatewayPaths {
        options["directory"].map { GatewayPaths($0) } ?? .standard
    }

    /// The gateway's store, to be read beside it.
    func store() throws(Failure) -> some OperatorStore {
        try paths.checkExists()
        try GatewayPaths.checkReadable(paths.store)
        guard Files.exists(paths.store) else {
            throw Failure(
                .notFound,
                "there is no store in \(paths.directory.quoted)",
                fix: "\"offstage-gateway serve\" makes it at its first start."
            )
        }
        return try failing { try StoreReader(paths.store) }
    }
}
