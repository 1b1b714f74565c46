/// Rows in aligned columns.
package struct Table {
    package struct Column {
        package var title: String
        package var isNumber = false
        /// Names of files and URLs stand there. A long one is cut on a terminal; elsewhere it is
        /// whole, and makes only its own row longer.
        package var hasNames = false

        package init(_ title: String, isNumber: Bool = false, hasNames: Bool = false) {
            (self.title, self.isNumber, self.hasNames) = (title, isNumber, hasNames)
        }
    }

    package struct Cell {
        package var text: String
        package var style: Console.Style?

        package init(_ text: String, _ style: Console.Style? = nil) {
            (self.text, self.style) = (text.printable, style)
        }
    }

    package let columns: [Column]
    package var rows: [[Cell]] = []

    package init(_ columns: [Column]) { self.columns = columns }
    package init(_ titles: String...) { columns = titles.map { Column($0) } }

    package mutating func add(_ cells: [Cell]) { rows.append(cells) }
    package mutating func add(_ texts: String...) { rows.append(texts.map { Cell($0) }) }

    /// The lines as the console takes them. On a terminal that is too narrow columns are wrapped
    /// between words, the widest first; elsewhere nothing is, so that a line is a row.
    /// `isCut`: a row is one line there as well, and ends with `…` what does not fit.
    package func lines(
        _ console: Console,
        indent: Int = 0,
        isCut: Bool = false
    ) -> [String] {
        let heads = columns.map { Cell($0.title, .bold) }
        var rows = [heads] + rows
        let widths = widths(of: rows, console.width.map { $0 - indent }, isCut)
        if isCut {
            rows = rows.map { row in
                zip(row, widths).map { Cell($0.text.fitted(to: $1), $0.style) }
            }
        } else if console.width != nil {
            for index in columns.indices where columns[index].hasNames {
                for row in rows.indices { rows[row][index].text.cutWords(to: widths[index]) }
            }
        }
        return rows.flatMap { line($0, widths, console, indent) }
    }

    private static let gap = 2
    /// What is cut keeps so many columns: `newsbo…`.
    private static let leastOfCut = 7
    /// The same of words.
    private static let leastOfWords = 16
    /// A column of names that are not cut is no wider, and longer ones reach beyond it.
    private static let mostOfNames = 60

    /// No column becomes narrower than its longest word, unless that is cut, or than a few.
    private func widths(of rows: [[Cell]], _ width: Int?, _ isCut: Bool) -> [Int] {
        func widest(_ index: Int, _ size: (String) -> Int) -> Int {
            rows.map { size($0[index].text) }.max() ?? 0
        }
        var widths = columns.indices.map { widest($0, \.columns) }
        guard let width else {
            return zip(columns, widths).map { $0.hasNames ? min($1, Self.mostOfNames) : $1 }
        }
        let least = columns.indices.map { index in
            if isCut { return min(widths[index], Self.leastOfCut) }
            if columns[index].hasNames { return min(widths[index], Self.leastOfWords) }
            let word = widest(index) {
                $0.split(separator: " ").map { String($0).columns }.max() ?? 0
            }
            return min(widths[index], columns[index].isNumber ? widths[index] : max(word, 20))
        }
        var excess = widths.reduce(Self.gap * (widths.count - 1), +) - width
        while excess > 0 {
            let wrappable = widths.indices.filter { widths[$0] > least[$0] }
            guard let index = wrappable.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[index] -= 1
            excess -= 1
        }
        return widths
    }

    private func line(
        _ row: [Cell],
        _ widths: [Int],
        _ console: Console,
        _ indent: Int
    ) -> [String] {
        let parts = row.indices.map { index in
            console.width == nil || row[index].text.columns <= widths[index]
                ? [row[index].text] : row[index].text.wrapped(to: widths[index])
        }
        let height = parts.map(\.count).max() ?? 1
        return (0..<height).map { number in
            var text = String(repeating: " ", count: indent)
            for index in columns.indices {
                let part = number < parts[index].count ? parts[index][number] : ""
                let padding = String(repeating: " ", count: max(0, widths[index] - part.columns))
                let styled = console.styled(part, row[index].style)
                text += columns[index].isNumber ? padding + styled : styled + padding
                text += String(repeating: " ", count: Self.gap)
            }
            return text.trimmedRight
        }
    }

    package func print(_ console: Console, indent: Int = 0) {
        for line in lines(console, indent: indent) { console.print(line) }
    }
}

extension String {
    /// None of its words is wider than so many columns any more.
    fileprivate mutating func cutWords(to width: Int) {
        guard columns > width else { return }
        self = split(separator: " ").map { String($0).fitted(to: width) }.joined(separator: " ")
    }

    var trimmedRight: String {
        var rest = self[...]
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
