import CommandTable
import PortCore
import Vocabulary

/// A report about a project, for people: each matter once, with its places.
struct PortText {
    private let console: Console

    /// One thing to be said, and where.
    private struct Group {
        var title: String
        var text: String
        var replacement: String
        /// Files in the order in which they were read, with lines and what is to be said of each.
        var places: [(file: String, lines: [String])] = []

        mutating func add(_ file: String, _ line: Int?, _ remark: String = "") {
            if places.last?.file != file { places.append((file, [])) }
            if let line { places[places.count - 1].lines.append("\(line)\(remark)") }
        }
    }

    init(_ console: Console) { self.console = console }

    func print(_ project: PortedProject) {
        let places = project.places
        let wanted = symbols(places) { $0.mustChange }
        section("To be changed", notes(project, true) + vanishing(places, true) + wanted, .red)
        let differing = symbols(places) { !$0.mustChange && $0.state != .here }
        section("To know", notes(project, false) + vanishing(places, false) + differing, .yellow)
        section("Here", symbols(places) { $0.state == .here }, .green)
        if !project.unread.isEmpty {
            console.print(console.styled("Not read", .bold))
            for unread in project.unread {
                console.print("  \(unread.file.printable): \(unread.reason.printable)")
            }
            console.print("")
        }
        for manifest in project.manifests {
            console.print(console.styled("\(manifest.file.printable) becomes", .bold))
            for line in manifest.manifest.text.split(
                separator: "\n",
                omittingEmptySubsequences: false
            ).dropLast() {
                console.print(line.isEmpty ? "" : "  " + String(line).printable)
            }
            console.print("")
        }
        let count = places.count { !$0.finding.mustChange }
        console.print(
            Self.counted(project.sources, "file") + " with "
                + Self.counted(project.lines, "line") + ": "
                + Self.counted(project.changes, "place") + " to be changed, \(count) that "
                + (count == 1 ? "stays." : "stay.")
        )
    }

    /// On stderr: what only its author can add to the manifest.
    func warn(of project: PortedProject) {
        for group in notes(project, true) {
            for place in group.places {
                let line = place.lines.first.map { ":" + $0 } ?? ""
                let what = "\(group.title): \(group.text) \(group.replacement)"
                console.printError("\(place.file)\(line): \(what)".printable)
            }
        }
    }

    static func counted(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }

    private func section(_ title: String, _ groups: [Group], _ style: Console.Style) {
        guard !groups.isEmpty else { return }
        console.print(console.styled(title, style))
        for group in groups {
            let text = group.text.isEmpty ? "" : ": " + group.text
            console.print("  " + console.styled(group.title.printable, .bold) + text.printable)
            if !group.replacement.isEmpty {
                console.print("    instead: \(group.replacement.printable)")
            }
            for place in group.places {
                let lines = place.lines.joined(separator: ", ")
                let suffix = lines.isEmpty ? "" : ":" + lines
                console.print("    " + place.file.printable + suffix)
            }
        }
        console.print("")
    }

    /// The symbols that are wanted, as the table has them.
    private func symbols(
        _ places: [PortedProject.Place],
        _ isWanted: (Symbol) -> Bool
    ) -> [Group] {
        var groups: [Int: Group] = [:]
        for place in places {
            guard case .symbol(let symbol) = place.finding.matter else { continue }
            let row = SymbolTable.rows[symbol]
            guard isWanted(row) else { continue }
            groups[
                symbol,
                default: Group(title: row.name, text: row.text, replacement: row.replacement)
            ].add(place.file, place.finding.line)
        }
        return SymbolTable.rows.indices.compactMap { groups[$0] }
    }

    /// By condition, in the order in which they were met.
    private func vanishing(
        _ places: [PortedProject.Place],
        _ mustChange: Bool
    ) -> [Group] {
        var groups: [Group] = []
        for place in places {
            guard case .vanishing(let vanishing) = place.finding.matter,
                vanishing.mustChange == mustChange
            else { continue }
            let index = groups.firstIndex { $0.title == vanishing.condition } ?? groups.count
            if index == groups.count {
                groups.append(
                    Group(
                        title: vanishing.condition,
                        text: "On Linux the code under it vanishes without a word.",
                        replacement: Finding.Vanishing.replacement
                    )
                )
            }
            let count = vanishing.lines == 1 ? "1 line" : "\(vanishing.lines) lines"
            let otherwise = vanishing.otherwise.map { ", line \($0) instead" } ?? ""
            groups[index].add(place.file, place.finding.line, " (\(count)\(otherwise))")
        }
        return groups
    }

    private func notes(_ project: PortedProject, _ mustChange: Bool) -> [Group] {
        project.manifests.flatMap { manifest in
            manifest.manifest.notes.filter { $0.mustChange == mustChange }.map { note in
                var group = Group(
                    title: "\(note.key): \(note.value)",
                    text: note.text,
                    replacement: note.replacement
                )
                group.add(manifest.file, note.line)
                return group
            }
        }
    }
}
