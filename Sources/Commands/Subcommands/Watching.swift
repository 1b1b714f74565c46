import AppProtocol
import CommandTable
import SystemBus
import Vocabulary

extension OffstageProgram {
    static let watch = Subcommand(
        "watch",
        "print events as they happen, until interrupted",
        forms: ["[APP]"],
        operands: 0...1,
        details: [
            "Prints the lines of \"offstage history\" as they are added; with --json, one map per "
                + "line."
        ],
        examples: [
            Example("watch", "All runs, and how they end."),
            Example("watch --json newsboat", "The events of one app, as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let daemon = try invocation.daemon()
        let app = invocation.operands.first
        // Asked first: an app that there is not would be watched for ever.
        if let app { try invocation.ask(Control1.Explain { $0.app = app }) }
        let names = app.map { [$0, "command.\($0)"] }
        do throws(BusError) {
            let subscription = try daemon.bus.onSignal(
                "Happened",
                of: Control1.name,
                at: Control1.path
            ) { signal in
                guard let line = signal.arguments.first,
                    names?.contains(line.text("app")) ?? true
                else { return }
                if invocation.wantsJSON { return invocation.console.print(line.json()) }
                let cells = historyCells(line, invocation.console).filter { !$0.text.isEmpty }
                invocation.console.print(cells.map(\.text).joined(separator: "  "))
            }
            let bus = "org.freedesktop.DBus"
            let rule = "type='signal',interface='\(Control1.name)',member='Happened'"
            _ = try daemon.bus.call(
                Target(bus, "/org/freedesktop/DBus", bus, "AddMatch"),
                [.string(rule)],
                signature: "s"
            )
            _ = try daemon.bus.work { !daemon.bus.isOpen }
            withExtendedLifetime(subscription) {}
        } catch {
            throw Failure(.notRunning, "the daemon has gone: \(error.message.printable)")
        }
        throw Failure(.notRunning, "the daemon has gone")
    }
}
