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
        // Asked first: an unknown app would be watched for ever.
        if let app { try invocation.ask(Control1.Explain { $0.app = app }) }
        let names = app.map { [$0, "command.\($0)"] }
        var hasWarned = false
        do throws(BusError) {
            let subscription = try daemon.bus.onSignal(
                Control1.happened.name,
                of: Control1.name,
                at: Control1.path
            ) { signal in
                do throws(ValueError) {
                    try print(signal.arguments, of: names, invocation)
                } catch {
                    // It goes on: an upgrade of the daemon must not end what runs for days.
                    let failure = Failure(notUnderstood: "whose line of the history", error)
                    if !hasWarned { invocation.console.printError(failure.message) }
                    hasWarned = true
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
            _ = try daemon.bus.work { !daemon.bus.isOpen }
            withExtendedLifetime(subscription) {}
        } catch {
            throw Failure(.notRunning, "the daemon has gone: \(error.message.printable)")
        }
        throw Failure(.notRunning, "the daemon has gone")
    }

    private static func print(
        _ sent: [Value],
        of names: [String]?,
        _ invocation: Invocation
    ) throws(ValueError) {
        let console = invocation.console
        // What nobody looks into need not be understood.
        if names == nil, invocation.wantsJSON { return sent.forEach { console.print($0.json()) } }
        let line = try Reported<Report.HistoryLine>(sent)
        guard names?.contains(line.app.name) ?? true else { return }
        if invocation.wantsJSON { return sent.forEach { console.print($0.json()) } }
        let cells = historyCells(line.report, console).filter { !$0.text.isEmpty }
        console.print(cells.map(\.text).joined(separator: "  "))
    }
}
