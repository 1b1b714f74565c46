/// Rows in aligned columns.
struct Table {
    struct Column {
        var title: String
        var isNumber = false

        init(_ title: String, isNumber: Bool = false) {
            (self.title, self.isNumber) = (title, isNumber)
        }
    }

    struct Cell {
        var text: String
        var style: Console.Style?

        init(_ text: String, _ style: Console.Style? = nil) {
            (self.text, self.style) = (text.printable, style)
        }
    }

    let columns: [Column]
    var rows: [[Cell]] = []

    init(_ columns: [Column]) { self.columns = columns }
    init(_ titles: String...) { columns = titles.map { Column($0) } }

    mutating func add(_ cells: [Cell]) { rows.append(cells) }
    mutating func add(_ texts: String...) { rows.append(texts.map { Cell($0) }) }

    /// The lines as the console takes them. On a terminal that is too narrow the last column is
    /// continued below itself; elsewhere nothing is broken, so that a line is a row.
    func lines(_ console: Console, indent: Int = 0) -> [String] {
        let heads = columns.map { Cell($0.title, .bold) }
        let widths = columns.indices.map { index in
            ([heads] + rows).map { $0[index].text.columns }.max() ?? 0
        }
        let gap = 2
        let before = indent + widths.dropLast().reduce(0) { $0 + $1 + gap }
        let last = console.width.map { max(20, $0 - before) } ?? .max
        return ([heads] + rows).flatMap { row in
            line(row, widths, gap, last, console, indent)
        }
    }

    private func line(
        _ row: [Cell],
        _ widths: [Int],
        _ gap: Int,
        _ lastWidth: Int,
        _ console: Console,
        _ indent: Int
    ) -> [String] {
        var text = String(repeating: " ", count: indent)
        var column = indent
        for index in columns.indices.dropLast() {
            let cell = row[index]
            let padding = String(repeating: " ", count: widths[index] - cell.text.columns)
            let styled = console.styled(cell.text, cell.style)
            text += columns[index].isNumber ? padding + styled : styled + padding
            text += String(repeating: " ", count: gap)
            column += widths[index] + gap
        }
        guard let cell = row.last else { return [text] }
        if cell.text.columns <= lastWidth {
            let padding =
                columns.last?.isNumber == true
                ? String(repeating: " ", count: (widths.last ?? 0) - cell.text.columns) : ""
            return [(text + padding + console.styled(cell.text, cell.style)).trimmedRight]
        }
        let parts = cell.text.wrapped(to: lastWidth)
        return parts.enumerated().map { index, part in
            (index == 0 ? text : String(repeating: " ", count: column))
                + console.styled(part, cell.style)
        }
    }

    func print(_ console: Console, indent: Int = 0) {
        for line in lines(console, indent: indent) { console.print(line) }
    }
}

extension String {
    fileprivate var trimmedRight: String {
        var rest = self[...]
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
