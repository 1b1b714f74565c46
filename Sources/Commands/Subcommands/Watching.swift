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
        var problem: ValueError?
        do throws(BusError) {
            let subscription = try daemon.bus.onSignal(
                Control1.happened.name,
                of: Control1.name,
                at: Control1.path
            ) { signal in
                do throws(ValueError) {
                    let line = try Reported<Report.HistoryLine>(signal.arguments)
                    guard names?.contains(line.app.name) ?? true else { return }
                    print(line, signal.arguments, invocation)
                } catch {
                    problem = error
                }
            }
            let bus = "org.freedesktop.DBus"
            let rule =
                "type='signal',interface='\(Control1.name)',member='\(Control1.happened.name)'"
            _ = try daemon.bus.call(
                Target(bus, "/org/freedesktop/DBus", bus, "AddMatch"),
                [.string(rule)],
                signature: "s"
            )
            _ = try daemon.bus.work { !daemon.bus.isOpen || problem != nil }
            withExtendedLifetime(subscription) {}
        } catch {
            throw Failure(.notRunning, "the daemon has gone: \(error.message.printable)")
        }
        if let problem { throw Failure(notUnderstood: "whose line of the history", problem) }
        throw Failure(.notRunning, "the daemon has gone")
    }

    private static func print(
        _ line: Reported<Report.HistoryLine>,
        _ sent: [Value],
        _ invocation: Invocation
    ) {
        let console = invocation.console
        if invocation.wantsJSON { return sent.forEach { console.print($0.json()) } }
        let cells = historyCells(line.report, console).filter { !$0.text.isEmpty }
        console.print(cells.map(\.text).joined(separator: "  "))
    }
}
