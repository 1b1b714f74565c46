import CommandTable
import Vocabulary

/// Sections below each other, made to fit on a terminal: so that all of it is seen at once, the
/// long ones are cut, then what can be spared is left out.
struct Screen {
    struct Section {
        var title: String
        var style: Console.Style
        /// With a table, or with sentences.
        var table: Table?
        var sentences: [String] = []
        /// How many rows were left out before, and what lists all of them.
        var more: Int64 = 0
        var lister = ""
        /// What to do next.
        var hints: [String] = []
        /// Says the same in one line; nil: it is cut instead.
        var brief: String?
    }

    let console: Console
    /// Above all sections.
    var heading: [String] = []
    var sections: [Section] = []
    /// Below them.
    var summary: [String] = []

    func print() {
        for line in lines { console.print(line) }
    }

    /// What is spared, one after the other.
    private enum Saving: Int, CaseIterable, Comparable {
        case nothing, briefly, hints, blanks, rows

        static func < (left: Saving, right: Saving) -> Bool { left.rawValue < right.rawValue }

        /// Of a long section at least so many rows stay.
        var leastRows: Int { self < .rows ? 3 : 1 }
    }

    /// Of what stands below a title.
    static let indent = 2
    private static let rowsOfFile = 10
    /// The shell writes its prompt below.
    private static let prompt = 1

    /// Rows of each section that the screen may have room for.
    static func rows(_ console: Console) -> Int { console.height.map { max(3, $0) } ?? rowsOfFile }

    var lines: [String] {
        let rows = sections.map { section in
            let all = section.table?.rows.count ?? 0
            return section.brief == nil ? min(all, Self.rows(console)) : all
        }
        guard let height = console.height else { return text(rows, .nothing) }
        var limits = rows
        for saving in Saving.allCases {
            limits = rows
            while count(limits, saving) > height - Self.prompt {
                let long = limits.indices.filter { sections[$0].brief == nil }
                guard let longest = long.max(by: { limits[$0] < limits[$1] }),
                    limits[longest] > saving.leastRows
                else { break }
                limits[longest] -= 1
            }
            if count(limits, saving) <= height - Self.prompt { return text(limits, saving) }
        }
        return text(limits, .rows)
    }

    private func count(_ limits: [Int], _ saving: Saving) -> Int {
        var count = heading.count + summary.count
        for (section, limit) in zip(sections, limits) {
            if saving < .blanks { count += 1 }
            if saving >= .briefly, section.brief != nil {
                count += 1
                continue
            }
            count += 1 + section.sentences.count
            if section.table != nil { count += 1 + limit }
            if section.left(limit) > 0 { count += 1 }
            if saving < .hints { count += section.hints.count }
        }
        return count
    }

    private func text(_ limits: [Int], _ saving: Saving) -> [String] {
        var lines = heading.map(fitted)
        for (section, limit) in zip(sections, limits) {
            defer { if saving < .blanks { lines.append("") } }
            if saving >= .briefly, let brief = section.brief {
                lines.append(fitted(brief))
                continue
            }
            lines.append(console.styled(section.title, section.style))
            lines += section.sentences.map { fitted("  " + $0) }
            if var table = section.table {
                table.rows = Array(table.rows.prefix(limit))
                lines += table.lines(console, indent: Self.indent, isCut: console.width != nil)
            }
            let left = section.left(limit)
            if left > 0 {
                lines.append(fitted("  … and \(left) more: \"offstage \(section.lister)\""))
            }
            if saving < .hints { lines += section.hints.map { fitted("  " + $0) } }
        }
        return lines + summary.map(fitted)
    }

    private func fitted(_ line: String) -> String {
        console.width.map { line.fitted(to: $0) } ?? line
    }
}

extension Screen.Section {
    /// How many rows are not shown.
    fileprivate func left(_ limit: Int) -> Int64 {
        more + Int64(max(0, (table?.rows.count ?? 0) - limit))
    }
}
