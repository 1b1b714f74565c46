/// What the daemon answers to questions, as `--json` prints it and D-Bus carries it (docs/json.md).
/// Spans are seconds, shares 0 to 1. What is not known, or does not apply, is nil and left out.
///
/// A field that must be there was in the first version. One that is added is optional; a word may
/// be one that this version does not know.
package enum Report {}

/// One of them. It is filled field by field, as a call is.
package protocol ReportFields: Codable, Hashable, Sendable {
    init()
}

extension ReportFields {
    package init(_ fill: (inout Self) -> Void) {
        self.init()
        fill(&self)
    }
}

extension Report {
    package struct Spent: ReportFields {
        package var wakes: Int64 = 0
        package var seconds = 0.0
        package var cpuSeconds = 0.0
        package init() {}
    }

    package struct Failures: ReportFields {
        package var count: Int64 = 0
        package var since: Time?
        package var reason = ""
        package var until: Time?
        package init() {}
    }

    package struct LastRun: ReportFields {
        package var at: Time?
        package var task = ""
        package var outcome = Word<HistoryOutcome>(text: "")
        package var result = ""
        package var reason: String?
        /// It counts as a failure; nil: it does not.
        package var failed: Bool?
        package var decision: Decision?
        package init() {}
    }

    package struct App: ReportFields {
        package var app = AppID("")
        package var name = ""
        package var state = ""
        package var modes: [String] = []
        package var problem: String?
        package var file: String?
        package var transient = false
        package var lastUsed: Time?
        package var closed: Time?
        package var lastRun: LastRun?
        package var failures: Failures?
        package var tasks: Int64 = 0
        package var today = Spent()
        package init() {}
    }

    package struct Request: ReportFields {
        package var app = AppID("")
        package var name = ""
        package var task = ""
        /// Its number; nil: an older daemon, which does not say.
        package var request: Int64?
        package var kind = ""
        package var origin = ""
        package var state = Word<WorkState>(text: "")
        /// Its user-initiated run has not begun yet: a daemon that is gone was to begin it.
        package var userInitiated: Bool?
        package var submitted: Time?
        package var earliest: Time?
        package var everySeconds: Double?
        package var needs: [String] = []
        package var sentence = ""
        package var next: Time?
        package init() {}
    }

    package struct Condition: ReportFields {
        package var condition = ""
        /// Nil: unknown.
        package var value: String?
        package var number: Int64?
        package var sensing = Word<Sensing>(text: "")
        package var source: String?
        package var since: Time?
        package var choices = ""
        package var documentation = ""
        package init() {}
    }

    package struct Setting: ReportFields {
        package var setting = ""
        /// Nil: it is of the device.
        package var app: AppID?
        package var value = ""
        package var `default` = ""
        package var choices = ""
        package var documentation = ""
        package var enforced: Bool?
        /// Its app is not known.
        package var unknown: Bool?
        package init() {}
    }

    package struct Gate: ReportFields {
        package var gate = ""
        package var title = ""
        /// By the letters of triggers.
        package var cells: [String: String] = [:]
        package var kind = ""
        package init() {}
    }

    package struct Mode: ReportFields {
        package var mode = ""
        package var trigger = ""
        package var grant = ""
        package var rate = ""
        package var appGets = ""
        package var works = false
        package init() {}
    }

    /// One line of `offstage doctor`: what was found, what is lost by it, and how to mend that.
    package struct Check: ReportFields {
        package var name = ""
        package var isGood = false
        package var found = ""
        package var lost: String?
        package var fix: String?
        package init() {}

        private enum CodingKeys: String, CodingKey {
            case name = "check"
            case isGood = "ok"
            case found, lost, fix
        }
    }
}
