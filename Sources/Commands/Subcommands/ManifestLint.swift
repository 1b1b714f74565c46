import CommandTable
import DeviceCore
import Linux
import Vocabulary

/// Checks one manifest after the other.
struct ManifestLint {
    let settings: Settings
    let place: PlaceLint

    /// A file that cannot be read has that as its only error: the others are checked all the same.
    func check(_ file: String, _ invocation: Invocation) throws(Failure) -> LintResult {
        let id = place.id(of: file)
        let read: ManifestFile
        do throws(ManifestFile.Unreadable) {
            read = try ManifestFile(file, id: id ?? AppID(""), home: BaseDirectory.home())
        } catch {
            let code: Failure.Code = error.isMissing ? .notFound : .failed
            let fix = error.fix.isEmpty && error.isMissing ? place.fix(absent: file) : error.fix
            return LintResult(file, id, unreadable: error.reason, fix: fix, code)
        }
        guard let id else {
            let fix = "A manifest is called NAME.desktop."
            return LintResult(file, nil, unreadable: "is not a desktop file", fix: fix, .failed)
        }
        var checked = MachineLint(settings: settings).check(read.result)
        if case .app(let manifest, let warnings) = checked {
            let mistakes = try HistoryLint(manifest, at: invocation.console.now).check(invocation)
            let misplaced = place.check(file, id, read.bytes)
            checked = .app(manifest, warnings: misplaced + warnings + mistakes)
        }
        return LintResult(file, id, checked, ManifestParser.reasonForNoApp(bytes: read.bytes))
    }
}

/// What is to be said of one file.
struct LintResult {
    private let file: String
    /// Nil: by its name it has none.
    private let id: AppID?
    private let diagnostics: [Diagnostic]
    let isUsable: Bool
    /// What is wrong with it is in it.
    let wasRead: Bool
    /// What the command ends with, if that is all that is wrong.
    let code: Failure.Code

    fileprivate init(
        _ file: String,
        _ id: AppID,
        _ result: ManifestResult,
        _ reasonForNoApp: Diagnostic
    ) {
        (self.file, self.id, wasRead, code) = (file, id, true, .failed)
        switch result {
        case .app(_, let warnings): (isUsable, diagnostics) = (true, warnings)
        case .invalid(let errors): (isUsable, diagnostics) = (false, errors)
        case .notAnApp: (isUsable, diagnostics) = (false, [reasonForNoApp])
        }
    }

    fileprivate init(
        _ file: String,
        _ id: AppID?,
        unreadable reason: String,
        fix: String,
        _ code: Failure.Code
    ) {
        (self.file, self.id, self.code) = (file, id, code)
        (isUsable, wasRead) = (false, false)
        diagnostics = [Diagnostic(.error, reason: reason, fix: fix)]
    }

    var report: Value {
        var fields: ValueMap = [
            "file": .string(file), "usable": .bool(isUsable),
            "problems": .list(diagnostics.map(Self.report)),
        ]
        if let id { fields["app"] = .string(id.name) }
        return .map(fields)
    }

    private static func report(_ diagnostic: Diagnostic) -> Value {
        var fields: ValueMap = [
            "severity": .string(diagnostic.severity.rawValue),
            "reason": .string(diagnostic.reason), "fix": .string(diagnostic.fix),
        ]
        if let line = diagnostic.line { fields["line"] = .integer(Int64(line)) }
        if let key = diagnostic.key { fields["key"] = .string(key) }
        if let value = diagnostic.value { fields["value"] = .string(value) }
        return .map(fields)
    }

    func print(_ console: Console) {
        let path = file.printable
        for diagnostic in diagnostics {
            let isError = diagnostic.severity == .error
            let word = console.styled(
                isError ? "error" : "warning",
                isError ? .red : .yellow
            )
            console.print("\(path): \(word): \(diagnostic.description.printable)")
        }
        if isUsable, diagnostics.isEmpty { console.print("\(path): good") }
    }
}
