package import CommandTable
package import Linux

/// One call of a subcommand of `offstage`: what was typed, where it prints, whom it asks.
package struct Invocation: SubcommandCall {
    package let options: Options
    package let console: Console
    /// Connects to the daemon.
    let connect: () throws(Failure) -> any Control
    /// With a daemon that has gone.
    let patience: Patience
}
