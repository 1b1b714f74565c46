/// What a command's usage says of its operands: `[-d DIRECTORY] [-o FILE] ID...`.
struct UsageForm {
    struct Operand {
        /// As the form calls it: `ID`; of words to choose from all: `expire|fetch`.
        var name: String
        var isOptional: Bool
        /// Whether more of the same may follow.
        var repeats: Bool
    }

    /// Options that stand outside of brackets: one of them is given in this form.
    let options: [String]
    let operands: [Operand]

    /// `rows`: the options of the command, some of which are followed by a word of theirs.
    init(_ text: String, _ rows: [OptionRow]) {
        let takers = rows.filter { $0.argument != nil }.flatMap(\.spellings)
        var (options, operands): ([String], [Operand]) = ([], [])
        var isArgument = false
        for word in Self.words(text) {
            guard !isArgument else {
                isArgument = false
                continue
            }
            if word.hasPrefix("-") {
                let spellings = word.split(separator: "|").map(String.init)
                isArgument = spellings.contains { takers.contains($0) }
                options += spellings.filter { $0 != "--" && !$0.contains("=") }
            } else if !word.hasPrefix("[-") {
                operands.append(
                    Operand(
                        name: String(word.drop { $0 == "[" }.prefix { $0 != "]" && $0 != "." }),
                        isOptional: word.hasPrefix("["),
                        repeats: word.contains("...")
                    )
                )
            }
        }
        (self.options, self.operands) = (options, operands)
    }

    /// What stands in brackets is one word.
    private static func words(_ text: String) -> [String] {
        var words = [""]
        var open = 0
        for character in text {
            if character == "[" { open += 1 }
            if character == "]" { open -= 1 }
            if character == " ", open == 0 {
                words.append("")
            } else {
                words[words.count - 1].append(character)
            }
        }
        return words.filter { !$0.isEmpty }
    }
}

extension Subcommand {
    var usageForms: [UsageForm] { forms.map { UsageForm($0, options) } }
}
