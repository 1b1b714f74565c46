internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The daemon's own words, one line each, on standard error, or in the journal where that leads.
enum DaemonLog {
    static func write(_ text: String, named: Bool = true) {
        if Journal.isOurs { return Journal.send(text, .warning) }
        let error = FileDescriptor(owning: 2)
        // Nobody can be told that nobody can be told.
        try? error.writeAll(named ? "offstaged: \(text)\n" : "\(text)\n")
        _ = error.release()
    }

    /// What is as it should be.
    static func tell(_ text: String) {
        if Journal.isOurs { return Journal.send(text, .information) }
        write(text)
    }

    /// What the history says, for the journal alone, where it is found by app, task and reason:
    /// `journalctl --user APP=newsboat`.
    static func write(_ line: HistoryLine) {
        guard Journal.isOurs, let entry = JournalEntry(line) else { return }
        Journal.send(entry.text, .information, fields: entry.fields)
    }
}

/// A line of the history as the journal has it.
struct JournalEntry {
    let text: String
    let fields: [(name: String, value: String)]

    /// Nil: it says when somebody used an app, which is nobody else's business.
    init?(_ line: HistoryLine) {
        let app = line.app.name
        switch line.entry {
        case .wake(let report):
            text = "\(app): \(report.trigger.rawValue) \(report.result.summary)"
            fields = [
                ("APP", app), ("TASK", report.identifier), ("TRIGGER", report.trigger.rawValue),
                ("RESULT", report.result.summary), ("REASON", report.reason),
            ]
        case .ended(let result, let reason):
            text = "\(app): \(result.summary)"
            fields = [("APP", app), ("RESULT", result.summary), ("REASON", reason)]
        case .dropped(let identifier, let reason):
            text = "\(app): \(identifier) was dropped"
            fields = [("APP", app), ("TASK", identifier), ("REASON", reason)]
        case .note(let note):
            text = "\(app): \(note)"
            fields = [("APP", app), ("REASON", note)]
        case .transferred(let id, let url, let end):
            text = "\(app): transfer \(id) \(end.word): \(url)"
            fields = [("APP", app), ("RESULT", end.summary)]
        case .use: return nil
        }
    }
}
