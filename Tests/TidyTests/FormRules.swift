/// Lengths. Whoever must read a part should see all of it.
let formRules = [
    Rule(
        name: "lines have at most 100 columns",
        applies: { $0.isSwift || $0.isC || $0.path.hasPrefix("scripts/") },
        check: { file in
            let text = SourceText(Array(file.text.utf8))
            return (0..<text.lineCount).map { $0 + 1 }
                .filter { text.text(line: $0).count > 100 }
                .map { Finding(path: file.path, line: $0, what: "too long a line") }
        },
        bad: [Rule.Sample("Sources/A/A.swift", "a\n// " + filler(98), line: 2)],
        good: [Rule.Sample("Sources/A/A.swift", "// " + filler(97))]
    ),
    Rule(
        name: "functions have at most 70 lines",
        applies: { $0.isSwift || $0.isC },
        check: { file in
            (file.isSwift ? Body.all(inSwift: file.code) : Body.all(inC: file.code))
                .filter { $0.lineCount > 70 }
                .map {
                    Finding(
                        path: file.path,
                        line: $0.firstLine,
                        what: "\($0.keyword) of \($0.lineCount) lines"
                    )
                }
        },
        bad: [
            Rule.Sample("Sources/A/A.swift", "func a(\n) {\n" + lines(68) + "}", line: 1),
            Rule.Sample(
                "Sources/A/A.swift",
                "struct A {\nvar a: B {\n" + lines(69) + "}}",
                line: 2
            ),
            Rule.Sample("Sources/A/a.c", "\nint a(void) {\n" + lines(69) + "}\n", line: 2),
            Rule.Sample(
                "Sources/A/A.swift",
                "struct A {\nstatic func == (a: A, b: A) -> Bool {\n" + lines(69) + "}}",
                line: 2
            ),
        ],
        good: [
            Rule.Sample("Sources/A/A.swift", "func a() {\n" + lines(68) + "}\n" + lines(80)),
            Rule.Sample(
                "Sources/A/A.swift",
                "protocol A {\nvar a: B { get }\nfunc a()\n}\nstruct B {\n" + lines(80) + "}"
            ),
            Rule.Sample("Sources/A/A.swift", "let a = \"func a() {\n" + lines(80) + "}\""),
        ]
    ),
    Rule(
        name: "files have at most 500 lines",
        applies: { $0.isSwift || $0.isC || $0.path.hasPrefix("scripts/") },
        check: { file in
            guard file.code.lineCount > 500 else { return [] }
            return [Finding(path: file.path, line: 501, what: "\(file.code.lineCount) lines")]
        },
        bad: [Rule.Sample("Sources/A/A.swift", lines(501), line: 501)],
        good: [Rule.Sample("Sources/A/A.swift", lines(500))]
    ),
]

private func lines(_ count: Int) -> String { String(repeating: "x\n", count: count) }
private func filler(_ count: Int) -> String { String(repeating: "-", count: count) }
