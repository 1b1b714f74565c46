import CommandTable
import Linux
import PortCore
import Vocabulary

/// What becomes of an iOS app's sources here.
extension OffstageProgram {
    static let port = Subcommand(
        "port",
        "tell what must change in an iOS project, and make its manifest",
        forms: ["DIRECTORY..."],
        operands: 1...256,
        options: [
            OptionRow(
                "manifest",
                "write the manifest that the Info.plist becomes to FILE, which must not exist; "
                    + "- prints it instead of the report",
                argument: "FILE"
            )
        ],
        details: [
            "Reads the Swift sources and each Info.plist below the directories and reports, by "
                + "file and line, the symbols for background work that are here, that differ, and "
                + "that are not here, with what to write instead; code that vanishes on Linux "
                + "because it stands under a condition such as #if os(iOS); selectors, @objc and "
                + "publishers of Combine. It knows comments, strings and conditional compilation. "
                + "Nothing is changed.",
            "Where an identifier of the Info.plist begins with $(PRODUCT_BUNDLE_IDENTIFIER), the "
                + "manifest has the bundle identifier of the Xcode project, if all configurations "
                + "of its iOS apps have the same.",
            "Directories that are hidden, and Pods, Carthage and DerivedData are skipped; links "
                + "are not followed. What cannot be read is named.",
            "The exit status is 1 if something must be changed or could not be read.",
        ],
        examples: [
            Example("port ~/src/Tides", "Report what to change in that project."),
            Example("port --manifest=tides.desktop ~/src/Tides", "Also write its manifest."),
            Example("port --json ~/src/Tides", "The same as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let target = invocation.options["manifest"]
        guard target != "-" || !invocation.wantsJSON else {
            throw Failure(
                .usage,
                "--manifest=- and --json both print",
                fix: "Leave one of them out: the JSON has the manifest too."
            )
        }
        var files = ProjectFiles()
        for directory in invocation.operands { try files.read(directory) }
        let project = files.project
        let text = PortText(invocation.console)
        if target == "-" {
            // What the manifest lacks is not hidden by printing it.
            text.warn(of: project)
        } else if invocation.wantsJSON {
            invocation.console.print(project.value.json(pretty: true))
        } else {
            text.print(project)
        }
        if let target { try write(project, to: target, invocation) }
        if target == "-" {
            let lacking = project.manifests.reduce(0) {
                $0 + $1.manifest.notes.count(where: \.mustChange)
            }
            guard lacking > 0 else { return }
            throw Failure(.failed, "the manifest lacks \(PortText.counted(lacking, "value"))")
        }
        guard !project.isPorted else { return }
        let missed = project.unread.count(where: \.isMissed)
        var reasons: [String] = []
        if project.changes > 0 {
            reasons.append(PortText.counted(project.changes, "place") + " must be changed")
        }
        if missed == 1 { reasons.append("1 entry could not be read") }
        if missed > 1 { reasons.append("\(missed) entries could not be read") }
        throw Failure(.failed, reasons.joined(separator: ", and "))
    }

    private static func write(
        _ project: PortedProject,
        to target: String,
        _ invocation: Invocation
    ) throws(Failure) {
        guard let only = project.manifests.first else {
            if let unread = project.unread.first(where: { $0.file.hasSuffix("Info.plist") }) {
                throw Failure(
                    .failed,
                    "\(unread.file.quoted) cannot be read: \(unread.reason.printable)",
                    fix: "Convert or mend it, as with \"plutil -convert xml1\"."
                )
            }
            throw Failure(
                .notFound,
                "there is no Info.plist of an app",
                fix: "Name the directory that has it; docs/manifest.md has the keys of a manifest."
            )
        }
        guard project.manifests.count == 1 else {
            let names = project.manifests.map(\.file).joined(separator: ", ")
            throw Failure(
                .usage,
                "there is more than one app: \(names.printable)",
                fix: "Name the directory of one of them."
            )
        }
        let text = only.manifest.text
        guard target != "-" else {
            invocation.console.write(Array(text.utf8)[...])
            return
        }
        guard DesktopFileID.id(relativePath: Files.name(of: target)) != nil else {
            throw Failure(
                .usage,
                "--manifest \(target.quoted) is not a desktop file",
                fix: "A manifest is called NAME.desktop."
            )
        }
        guard Files.status(target, followLinks: false) == nil else {
            throw Failure(
                .failed,
                "\(target.quoted) is there already",
                fix: "Name another file, or compare it with --manifest=-."
            )
        }
        do {
            try Files.replace(target, with: text, permissions: 0o644)
        } catch {
            throw Failure(.failed, "\(target.quoted) cannot be written: \(error)")
        }
    }
}
