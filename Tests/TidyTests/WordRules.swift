/// A claim to the compiler that it cannot check is explained to the reader.
let concurrency = Rule(
    name: "what the compiler cannot check about threads is explained",
    applies: { $0.isSwift },
    check: { file in
        ["@unchecked Sendable", "nonisolated(unsafe)"].flatMap { word in
            file.code.places(of: word).compactMap { place in
                let line = file.code.line(of: place)
                let near = [line, line - 1].map { file.comments.text(line: $0).trimmed }
                if near.contains(where: { !$0.isEmpty }) { return nil }
                return file.finding(at: place, "\(word) without a comment that makes it true")
            }
        }
    },
    bad: [
        Rule.Sample("Sources/A/A.swift", "\nfinal class A: @unchecked Sendable {}", line: 2),
        Rule.Sample("Tests/A/A.swift", "nonisolated(unsafe) var a = 1"),
    ],
    good: [
        Rule.Sample("Sources/A/A.swift", "// One thread.\nclass A: @unchecked Sendable {}")
    ]
)

/// Else code of iOS apps in Swift 5 mode, which uses these off the main actor, does not compile.
let preconcurrency = Rule(
    name: "what apps see of the main actor is preconcurrency",
    applies: { $0.isSwift && $0.path.hasPrefix("Sources/Offstage/") },
    check: { file in
        file.code.places(of: "@MainActor").compactMap { place in
            func text(_ bytes: some Sequence<UInt8>) -> String {
                String(decoding: Array(bytes), as: UTF8.self).trimmed
            }
            let after = text(file.code.bytes[(place + "@MainActor".utf8.count)...].prefix(80))
            guard after.hasPrefix("public ") || after.hasPrefix("open ") else { return nil }
            let before = text(file.code.bytes[..<place].suffix(80))
            guard !before.hasSuffix("@preconcurrency") else { return nil }
            return file.finding(at: place, "@MainActor without @preconcurrency before it")
        }
    },
    bad: [
        Rule.Sample("Sources/Offstage/A.swift", "\n@MainActor\npublic class A {}", line: 2),
        Rule.Sample("Sources/Offstage/A/A.swift", "@MainActor // a\nopen class A {}"),
        Rule.Sample(
            "Sources/Offstage/A.swift",
            "@preconcurrency @MainActor public class A {}\n@MainActor public func a() {}",
            line: 2
        ),
    ],
    good: [
        Rule.Sample("Sources/Offstage/A.swift", "@preconcurrency\n@MainActor\npublic class A {}"),
        Rule.Sample("Sources/Offstage/A.swift", "@MainActor\nfinal class A {}"),
        Rule.Sample("Sources/Offstage/A.swift", "func a(_ b: @MainActor () -> Void) {}"),
    ]
)

/// A test that sleeps is slow on a fast machine and wrong on a slow one.
let sleeping = Rule(
    name: "tests wait for events, they do not sleep",
    applies: { $0.path.hasPrefix("Tests/") && ($0.isSwift || $0.isC) },
    check: { file in
        let calls = ["usleep(", "nanosleep(", "clock_nanosleep(", "Task.sleep", "Thread.sleep"]
        // A virtual device may sleep: that is a method of ours.
        let bare = file.code.places(of: "sleep(").filter { place in
            let before = String(decoding: file.code.bytes[..<place].suffix(5), as: UTF8.self)
            return !before.hasSuffix(".") && before != "func "
        }
        return (calls.flatMap(file.code.places) + bare).map { file.finding(at: $0, "sleeps") }
    },
    bad: [
        Rule.Sample("Tests/A/A.swift", "a(\"sleep(1)\")\nusleep(10)", line: 2),
        Rule.Sample("Tests/A/A.swift", "try await Task.sleep(for: .seconds(1))"),
        Rule.Sample("Tests/A/a.c", "int a(void) { return sleep(1); }"),
    ],
    good: [
        Rule.Sample("Tests/A/A.swift", "run(\"sleep\", \"1\") // as sleep(1) would"),
        Rule.Sample("Tests/A/A.swift", "func sleep(a: A) {}\nvirtual.sleep(.hours(1))"),
    ]
)

/// What should not be left in the source.
let leftovers = Rule(
    name: "nothing is left for later, nothing may crash on a guess",
    applies: { $0.isSwift || $0.isC || $0.path.hasPrefix("scripts/") },
    check: { file in
        let notes = ["TO" + "DO", "FIX" + "ME", "X" + "XX"]
        let inComments = notes.flatMap { note in
            file.comments.places(of: note).map { file.finding(at: $0, "\(note) in a comment") }
        }
        guard file.isSwift else {
            // In a header it changes the types that every other C module sees.
            let define = file.path.hasSuffix(".h") ? file.code.places(of: "_GNU_SOURCE") : []
            return inComments + define.map { file.finding(at: $0, "_GNU_SOURCE in a header") }
        }
        return inComments + file.code.places(of: "try!").map { file.finding(at: $0, "try!") }
    },
    bad: [
        Rule.Sample("Sources/A/A.swift", "\nlet a = try! b()", line: 2),
        Rule.Sample("Sources/A/A.swift", "/* one\n   TO" + "DO: two */", line: 2),
        Rule.Sample("Sources/A/include/a.h", "#define _GNU_SOURCE"),
    ],
    good: [
        Rule.Sample("Sources/A/a.c", "#define _GNU_SOURCE"),
        Rule.Sample("Sources/A/include/a.h", "// never _GNU_SOURCE here"),
        Rule.Sample("Sources/A/A.swift", "let a = try b(\"TO" + "DO\")"),
    ]
)

/// The tree is the same wherever it was cloned, and needs nothing but Debian and the toolchain.
let places = Rule(
    name: "no paths of one machine, no hosts of package registries",
    applies: { !$0.path.hasPrefix("LICENSE") },
    check: { file in
        let names = [
            ["/wo", "rk/"], ["/tmp/", "wt"], ["/opt/", "swift"], ["/ro", "ot/"], ["py", "pi.org"],
            ["pythonhost", "ed.org"], ["np", "mjs."], ["crat", "es.io"], ["proxy.gol", "ang.org"],
            ["dock", "er.io"], ["qu", "ay.io"], ["gh", "cr.io"], ["deb.deb", "ian.org"],
            ["rubyg", "ems.org"], ["repo.mav", "en"],
        ]
        let text = SourceText(Array(file.text.utf8))
        return names.map { $0.joined() }.flatMap { name in
            text.places(of: name).map {
                Finding(path: file.path, line: text.line(of: $0), what: "names \(name)")
            }
        }
    },
    bad: [
        Rule.Sample("docs/a.md", "see\n/wo" + "rk/here", line: 2),
        Rule.Sample("scripts/a", "curl https://py" + "pi.org/simple"),
    ],
    good: [Rule.Sample("docs/a.md", "homework/here, /root of the tree")]
)

/// A launch is a machine: events go in, actions come out, and nobody else changes what it knows.
let launches = Rule(
    name: "a launch is made and changed by its machine only",
    applies: { $0.path.hasPrefix("Sources/DeviceCore/") && $0.isSwift },
    check: { file in
        let folder = "Sources/DeviceCore/Lifecycle/"
        if file.path == folder + "Launch.swift" {
            return file.code.places(of: "package var").map {
                file.finding(at: $0, "can be set by others")
            }
        }
        if file.path.hasPrefix(folder + "Launch") { return [] }
        let made = file.code.places(of: "Launch(")
        // `launches` can only be read: this is how `Device.take` hands one to its machine.
        let takes = file.path == folder + "Device+Launches.swift"
        let changed = takes ? [] : file.code.places(of: ".changeLaunch(")
        return made.map { file.finding(at: $0, "makes a launch") }
            + changed.map { file.finding(at: $0, "changes a launch") }
    },
    bad: [
        Rule.Sample(
            "Sources/DeviceCore/Lifecycle/Launch.swift",
            "struct Launch {\n    package var isFrozen = false\n}",
            line: 2
        ),
        Rule.Sample("Sources/DeviceCore/A.swift", "let a = Launch(id: b)"),
        Rule.Sample(
            "Sources/DeviceCore/A.swift",
            "\napps[a].changeLaunch(at: b) { $0.isFrozen = true }",
            line: 2
        ),
    ],
    good: [
        Rule.Sample(
            "Sources/DeviceCore/Lifecycle/Launch.swift",
            "struct Launch {\n    package internal(set) var isFrozen = false\n}"
        ),
        Rule.Sample("Sources/DeviceCore/Lifecycle/Launch+A.swift", "let a = Launch(id: b)"),
        Rule.Sample("Sources/DeviceCore/A.swift", "a.launches[0].isFrozen == isLaunch(b)"),
        Rule.Sample("Sources/DeviceCore/A.swift", "func changeLaunch(at a: Int) {}"),
        Rule.Sample(
            "Sources/DeviceCore/Lifecycle/Device+Launches.swift",
            "apps[a].changeLaunch(at: b) { $0.take(c) }"
        ),
    ]
)

/// A user who is told to restart something types its name.
let units = Rule(
    name: "a unit of systemd that is named is one of ours",
    applies: { $0.isSwift && $0.path.hasPrefix("Sources/") },
    check: { file in
        let names = Tree.current.files.map(\.path).filter { $0.hasPrefix("share/systemd/") }
            .compactMap { $0.split(separator: "/").last?.split(separator: ".in").first }
        return file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .flatMap { number, line in
                guard let start = line.firstRange(of: "systemctl ")?.upperBound else {
                    return [Finding]()
                }
                // As far as the command goes.
                let command = line[start...].prefix { !"\"\\;,".contains($0) }
                let words = command.split { !($0.isLetter || $0.isNumber || ".-/@_".contains($0)) }
                return words.filter { word in
                    word.hasPrefix("offstage")
                        && !names.contains { $0 == word || $0 == word + ".service" }
                }.map {
                    Finding(path: file.path, line: number + 1, what: "no unit \($0)")
                }
            }
    },
    bad: [
        Rule.Sample("Sources/A/A.swift", "\nlet a = \"systemctl --user restart offstage\"", line: 2)
    ],
    good: [
        Rule.Sample("Sources/A/A.swift", "let a = \"systemctl restart offstaged.service\"")
    ]
)
