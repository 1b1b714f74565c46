/// What is wrong in a file that a person writes: where, what, and what to write instead.
package struct Diagnostic: Error, Hashable, Sendable, Codable {
    package enum Severity: String, Sendable, Codable {
        /// The file is used, without what this is about.
        case warning
        /// The file is not used.
        case error
    }

    /// No file gets more of these than a person would read.
    static let limit = 100

    package var severity: Severity
    /// Counted from 1; nil when it is about the whole file.
    package var line: Int?
    package var key: String?
    package var value: String?
    /// Goes on after the value: `is not a time`.
    package var reason: String
    /// A sentence: `Write a number and a unit, such as 15m or 2h.`
    package var fix: String

    package init(
        _ severity: Severity,
        line: Int? = nil,
        key: String? = nil,
        value: String? = nil,
        reason: String,
        fix: String
    ) {
        self.severity = severity
        self.line = line
        self.key = key
        self.value = value
        self.reason = reason
        self.fix = fix
    }
}

extension Diagnostic: CustomStringConvertible {
    /// `line 9: RefreshInterval: "soon" is not a time. Write a number and a unit.`
    package var description: String { fix.isEmpty ? finding + "." : "\(finding). \(fix)" }

    /// Without the fix, and the end of its sentence.
    package var finding: String {
        var text = line.map { "line \($0): " } ?? ""
        if let key { text += "\(key): " }
        if let value { text += "\(value.quoted) " }
        return text + reason
    }
}

extension Diagnostic {
    /// A group that was meant to be ours.
    init(_ severity: Severity, _ header: DesktopFile.Misspelt) {
        self.init(
            severity,
            line: header.line,
            value: header.text,
            reason: header.reason,
            fix: header.fix
        )
    }

    /// A file whose `bytes` are not text.
    static func notText(_ bytes: [UInt8]) -> Diagnostic {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        return Diagnostic(
            .error,
            line: line.map { $0 + 1 },
            reason: "is not UTF-8",
            fix: "Save the file as UTF-8."
        )
    }
}

/// What is wrong with one value; its reader does not know where the value stands.
struct Problem: Error, Equatable {
    let reason: String
    let fix: String
    /// The part of the value that is wrong; the whole value if nil.
    var part: String?

    init(_ reason: String, fix: String, part: String? = nil) {
        (self.reason, self.fix, self.part) = (reason, fix, part)
    }
}
