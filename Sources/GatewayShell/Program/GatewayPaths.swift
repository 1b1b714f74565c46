import Linux

/// Where a gateway's files are: all in one directory.
package struct GatewayPaths: Sendable {
    package let directory: String

    package init(_ directory: String) { self.directory = directory }

    /// `$OFFSTAGE_GATEWAY`, else `offstage-gateway` in the user's directory for state.
    package static var standard: GatewayPaths {
        if let path = CurrentProcess.environment("OFFSTAGE_GATEWAY"), !path.isEmpty {
            return GatewayPaths(path)
        }
        // A service's own, as systemd gives it.
        if let path = CurrentProcess.environment("STATE_DIRECTORY"), !path.isEmpty {
            return GatewayPaths(path)
        }
        let state = BaseDirectory.state.path(home: BaseDirectory.home())
        return GatewayPaths(state + "/offstage-gateway")
    }

    package var settings: String { directory + "/gateway.conf" }
    package var keys: String { directory + "/keys.conf" }
    package var authority: String { directory + "/ca.pem" }
    package var authorityKey: String { directory + "/ca.key" }
    package var certificate: String { directory + "/server.pem" }
    package var certificateKey: String { directory + "/server.key" }
    /// 32 random bytes in hexadecimal, with which device tokens are sealed.
    package var tokenKey: String { directory + "/token.key" }
    package var store: String { directory + "/gateway.db" }
    /// Who the command `device` is, if it was not told.
    package var deviceKey: String { directory + "/device.key" }
    package var lock: String { directory + "/lock" }
    package var control: String { directory + "/control" }
    /// The private half of a provider's key, made here and for the provider alone.
    package func providerKey(_ id: String) -> String { directory + "/\(id).p8" }
}
