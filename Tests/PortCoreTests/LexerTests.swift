import PortCore
import Testing

/// What a source is split into, told by what is found in it.
struct LexerTests {
    /// Names of what is found in a source, with lines.
    static func found(_ source: String) -> [String] {
        var project = PortedProject(served: [])
        project.addSource(Array(source.utf8), file: "a.swift")
        return project.places.map { place in
            switch place.finding.matter {
            case .symbol(let symbol): "\(place.finding.line) \(SymbolTable.rows[symbol].name)"
            case .vanishing(let vanishing):
                "\(place.finding.line) \(vanishing.condition) "
                    + "\(vanishing.lines) \(vanishing.otherwise ?? 0) \(vanishing.mustChange)"
            }
        }
    }

    @Test(
        arguments: [
            "", "\"", "\"\\", "\"\\(", "\"\\(\"\\(\"", "#", "##", "#\"", "#/", "/", "/*", "/*/*",
            "`",
            "`a", "'", "\\", "#if", "#if (", "#if !", "#else", "#endif", "#elseif a", "@", "@objc",
            "import", "func", "func a(", "catch let a as", "\"\"\"", "\"\"\"\\(", "}}}", ")))",
            "#!", "#!/bin/sh", "0x", "1.", "\u{FEFF}", "UIDevice", ".current.batteryLevel",
        ]
    )
    func `what ends too soon is read`(source: String) {
        for tail in ["", "\n", "\r\n", "\0", "é", "\"\"\""] {
            _ = Self.found(source + tail)
            _ = Self.found("#if os(iOS)\n" + source + tail)
        }
    }

    @Test func `an interpolation nested past the limit does not overflow`() {
        let deep = String(repeating: "\"\\(", count: 5000)
        _ = Self.found(deep)
        _ = Self.found("#if " + String(repeating: "!", count: 5000) + "a\n#endif")
        _ = Self.found("#if " + String(repeating: "(", count: 5000) + "a\n#endif")
        _ = Self.found(String(repeating: "#if a\n", count: 5000) + "UIScene")
    }

    @Test(
        arguments: [
            ("os(iOS)", "vanishes"), ("canImport(UIKit)", "vanishes"),
            ("os(iOS) || os(tvOS)", "vanishes"), ("os(iOS) && DEBUG", "vanishes"),
            ("canImport(Combine)", "vanishes"), ("canImport(Darwin)", "vanishes"),
            ("_runtime(_ObjC)", "vanishes"), ("objectFormat(MachO)", "vanishes"),
            ("!(os(tvOS) || os(macOS)) && canImport(Darwin)", "vanishes"),
            ("!canImport(Glibc)", ""),
            ("!os(Linux)", ""), ("!(os(Linux) || os(macOS))", ""),
            ("os(iOS) && swift(>=5.5)", "vanishes"),
            ("true && os(iOS)", "vanishes"),
            ("os(iOS) || DEBUG", ""), ("DEBUG", ""), ("os(Linux)", ""), ("os(macOS)", ""),
            ("os(iOS) || os(Linux)", ""), ("canImport(Foundation)", ""), ("false", ""),
            ("canImport(ObjectiveC)", "vanishes"), ("canImport(AudioToolbox)", "vanishes"),
            ("canImport(Musl)", ""), ("canImport(Android) || canImport(UIKit)", "vanishes"),
            ("canImport(Realm)", ""), ("targetEnvironment(simulator)", ""), ("arch(arm64)", ""),
            ("swift(<5)", ""), ("os(watchOS)", ""), ("canImport(AppKit)", ""),
            ("!os(iOS)", ""), ("os(iOS) && os(Linux)", ""), ("canImport(Offstage)", ""),
            ("os(iOS) && false", ""), ("canImport(UIKit) || canImport(Offstage)", ""),
            ("os(macOS) || (os(iOS) && targetEnvironment(simulator))", ""),
        ]
    )
    func `a condition is decided as the compilers decide it`(condition: String, outcome: String) {
        let found = Self.found("#if \(condition)\nlet a = 1\n#endif\n")
        #expect(found == (outcome.isEmpty ? [] : ["1 #if \(condition) 1 0 true"]))
    }

    @Test func `of a chain the branch that Linux takes is named`() {
        let source = "#if os(iOS)\na\nb\n#elseif os(macOS)\nc\n#else\nd\n#endif"
        #expect(Self.found(source) == ["1 #if os(iOS) 2 6 false"])
        #expect(
            Self.found("#if os(macOS)\na\n#else\nb\n#endif\nUIScene") == ["6 UIScene"],
            "what Linux takes too does not vanish"
        )
        #expect(
            Self.found("#if os(iOS)\nUIWindow\n#else\nb\n#endif")
                == ["1 #if os(iOS) 1 3 true", "2 UIWindow"]
        )
        #expect(Self.found("#if os(iOS)\nUIScene\n#elseif os(Linux)\nb\n#endif") == [])
        #expect(Self.found("#if os(macOS)\nUIScene\n#endif") == [])
        #expect(Self.found("#if !os(Linux)\nUIScene\n#else\nUIDevice\n#endif") == ["4 UIDevice"])
        #expect(Self.found("#if os(iOS)\nUIScene\n#elseif os(Linux)\n#endif") == [])
        let branches = "#if os(iOS)\na\n#elseif DEBUG\nUIScene\n#elseif canImport(UIKit)\nUIDevice"
        #expect(
            Self.found("UIScene\n" + branches + "\n#endif\nUIScene") == [
                "1 UIScene", "2 #if os(iOS) 1 4 false", "5 UIScene", "9 UIScene",
            ]
        )
    }

    @Test func `what is never closed is told all the same`() {
        #expect(
            Self.found("#if os(iOS)\nUIWindow\nb") == ["1 #if os(iOS) 1 0 true", "2 UIWindow"]
        )
    }

    @Test func `no place is told as here where something else says what becomes of it`() {
        let vanishing =
            "#if os(iOS) && A\nUIScene\n#elseif canImport(UIKit)\nUIWindow\n#endif\nUIScene"
        #expect(
            Self.found(vanishing) == [
                "1 #if os(iOS) && A 1 0 true", "3 #elseif canImport(UIKit) 1 0 true",
                "4 UIWindow", "6 UIScene",
            ]
        )
        #expect(
            Self.found("UIDevice.current.orientation; UIScene")
                == ["1 UIDevice.current.orientation", "1 UIScene"]
        )
        #expect(
            Self.found("UIDevice.current.batteryLevel")
                == ["1 UIDevice", "1 UIDevice.current.batteryLevel"]
        )
        let session = "URLSession(configuration: .default); UIScene"
        #expect(
            Self.found("import Offstage\n" + session)
                == ["2 URLSessionConfiguration.default", "2 UIScene"]
        )
        // What is left out has said all the same that an import is missing.
        #expect(
            Self.found("#if os(iOS)\nlet a: URLRequest\n#endif")
                == ["1 #if os(iOS) 1 0 true", "2 session types without their import"]
        )
    }

    /// The page about porting tells apps to write it where both modules are imported.
    @Test(arguments: [".", "::"])
    func `a name behind its module is that module's`(mark: String) {
        let module = "FoundationNetworking" + mark
        #expect(Self.found(module + "URLSession.shared") == [])
        #expect(Self.found(module + "URLSession(configuration: .default)") == [])
        #expect(Self.found(module + "URLSessionConfiguration.default") == [])
        #expect(
            Self.found("import Offstage\nlet a: Offstage\(mark)URLRequest") == ["2 URLRequest"]
        )
    }

    @Test func `a symbol is told once a line`() {
        #expect(Self.found("UIScene UIScene UIDevice UIScene") == ["1 UIScene", "1 UIDevice"])
    }

    @Test func `a slash divides behind an operand, and begins a literal elsewhere`() {
        #expect(Self.found("let a = b / UIScene / c") == ["1 UIScene"])
        #expect(Self.found("let a = b/UIScene/c") == ["1 UIScene"])
        #expect(Self.found("let a = /UIScene/") == [])
        #expect(Self.found("return /UIScene/") == [])
        #expect(Self.found("let a = [/UIScene/, /(UIScene)/]") == [])
        #expect(Self.found("reduce(1, /) + UIScene / 2") == ["1 UIScene"])
        #expect(Self.found("let a = /\\/UIScene/ ; UIDevice") == ["1 UIDevice"])
    }

    @Test func `a line ends with a carriage return too`() {
        #expect(
            Self.found("// a\rUIScene\r\nUIDevice\n\rUIScene") == [
                "2 UIScene", "3 UIDevice", "5 UIScene",
            ]
        )
        #expect(Self.found("let a = \"b\rUIScene") == ["2 UIScene"])
        #expect(Self.found("/* a\r\n\r */ UIScene") == ["3 UIScene"])
        #expect(Self.found("let a = #/\r UIDevice\r/#\rUIScene") == ["4 UIScene"])
    }

    /// Each slash of such a line may begin a literal, and looks for its end.
    @Test func `a literal between slashes is short, so that a line of slashes is read`() {
        let slashes = String(repeating: "/\\", count: 20_000)
        #expect(Self.found("let a = " + slashes + "\nUIScene") == ["2 UIScene"])
        func literal(_ count: Int) -> [String] {
            Self.found("let a = /" + String(repeating: "b", count: count) + " UIScene/")
        }
        #expect(literal(500) == [])
        #expect(literal(2000) == ["1 UIScene"])
    }

    @Test func `each branch of a condition opens and closes the same braces`() {
        let split = "#if DEBUG\nstruct A {\n#else\nstruct B {\n#endif\n}\n"
        #expect(Self.foundInProject(split + "class UIScene {}", "UIScene()") == [])
        #expect(
            Self.foundInProject("struct A { class UIScene {} }", "UIScene()") == ["1 UIScene"],
            "a type within another is no type of the project"
        )
    }

    @Test func `an own type or function of the project hides Apple's in all of its files`() {
        #expect(Self.foundInProject("struct URLSession {}", "URLSession.shared") == [])
        #expect(Self.foundInProject("enum Timer {}", "Timer.publish()") == [])
        #expect(Self.foundInProject("struct Selector {}", "Selector(css: a)") == [])
        let method = "extension A { func publisher(for a: Int) {} }"
        #expect(Self.foundInProject(method, "a.publisher(for: 1)") == [])
        let other = "extension A { func publisher(of a: Int) {} }"
        #expect(Self.foundInProject(other, "a.publisher(for: 1)") == ["1 publisher(for:)"])
    }

    /// What is found in the second of two files.
    private static func foundInProject(_ first: String, _ second: String) -> [String] {
        var project = PortedProject(served: [])
        project.addSource(Array(first.utf8), file: "a.swift")
        project.addSource(Array(second.utf8), file: "b.swift")
        return project.places.filter { $0.file == "b.swift" }.map { place in
            guard case .symbol(let symbol) = place.finding.matter else { return "a condition" }
            return "\(place.finding.line) \(SymbolTable.rows[symbol].name)"
        }
    }

    @Test func `what is not UTF-8 is named`() {
        var project = PortedProject(served: [])
        project.addSource([0xFF, 0x00, 0x41], file: "a.swift")
        project.addSource([0xFF, 0xFE, 0x41, 0], file: "b.swift")
        #expect(project.places.isEmpty && project.sources == 0)
        #expect(
            project.unread.map(\.reason) == ["it is not UTF-8", "it is UTF-16; write it as UTF-8"]
        )
        #expect(!project.isPorted)
    }
}
