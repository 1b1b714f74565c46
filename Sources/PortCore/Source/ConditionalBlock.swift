/// An `#if` that is open: which of its branches is compiled where.
struct ConditionalBlock {
    struct Branch {
        var firstLine: Int
        /// The directive as it is written.
        var directive: String
        /// Where it is compiled, as far as this block decides.
        var taken: Answers
        /// How many findings there were when it began.
        var firstFinding: Int
        var hasCode = false
        var lines = 0
        var endFinding = 0
    }

    /// What was decided around it.
    let around: Answers
    /// How many braces were open at its beginning.
    let depth: Int
    private(set) var branches: [Branch] = []
    /// That no branch before was taken.
    private var rest = Answers(.yes)

    init(around: Answers, depth: Int) { (self.around, self.depth) = (around, depth) }

    /// Where the branch that is open is compiled.
    var current: Answers { branches.last.map { around && $0.taken } ?? around }

    mutating func begin(_ condition: Answers, _ directive: String, line: Int, findings: Int) {
        end(line: line, findings: findings)
        branches.append(
            Branch(
                firstLine: line,
                directive: directive,
                taken: rest && condition,
                firstFinding: findings
            )
        )
        rest = rest && !condition
    }

    mutating func end(line: Int, findings: Int) {
        guard !branches.isEmpty else { return }
        let last = branches.count - 1
        branches[last].lines = max(0, line - branches[last].firstLine - 1)
        branches[last].endFinding = findings
    }

    mutating func sawCode() {
        guard !branches.isEmpty else { return }
        branches[branches.count - 1].hasCode = true
    }

    /// Of a closed block: what it does to the findings within it. If one of its conditions names
    /// Linux, what is not compiled there was left out on purpose; else it vanishes.
    func settle(_ findings: inout [Finding]) {
        // What is around it vanishes as a whole, and is told there.
        guard around.linux != .no else { return }
        let isDecided = branches.contains(where: \.taken.namesLinux)
        let otherwise = branches.first { $0.hasCode && $0.taken.linux != .no }
        let vanished = branches.filter {
            $0.hasCode && $0.taken.linux == .no && $0.taken.iOS != .no
        }
        guard let start = vanished.first?.firstFinding else { return }
        // What follows is written anew once, however many branches there are.
        var tail: [Finding] = []
        var next = start
        for branch in vanished {
            let range = branch.firstFinding..<branch.endFinding
            tail += findings[next..<range.lowerBound]
            next = range.upperBound
            if isDecided { continue }
            let vanishing = Finding.Vanishing(
                condition: branch.directive,
                lines: branch.lines,
                otherwise: otherwise?.firstLine,
                mustChange: otherwise == nil || !range.isEmpty
            )
            tail.append(Finding(line: branch.firstLine, matter: .vanishing(vanishing)))
            tail += findings[range]
        }
        tail += findings[next...]
        findings.replaceSubrange(start..., with: tail)
    }
}
