package import Vocabulary

/// What the daemon serves on the session bus, where there is one: the way to its private socket,
/// and nothing else.
package enum Discovery1 {
    package static let name = "org.offstage.Discovery1"
    package static let path = Control1.path

    package static let interface = Interface(
        name,
        documentation: "Published on the session bus: the address of the daemon. Everything else "
            + "is on its own socket.",
        methods: [
            Interface.Method(
                "Address",
                output: [Interface.Argument("address", "s")],
                "The D-Bus address of the private socket, such as unix:path=/run/user/1000/"
                    + "offstage/socket."
            )
        ]
    )
}
