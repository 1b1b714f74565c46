import Linux
import TestKit
import Testing
import Vocabulary

/// `offstage new app`: the beginning of an app, as the program writes it.
struct NewAppTests {
    let scratch = ScratchDirectory()

    private func offstage(_ arguments: [String], in folder: String) throws -> Command.Outcome {
        var command = Command([Products.path(of: "offstage")] + arguments)
        command.directory = folder
        command.environment = Command.cleanEnvironment([
            "OFFSTAGE_SOCKET": scratch("no-socket"), "HOME": scratch("home"),
        ])
        return try command.run()
    }

    /// A folder that looks like the library's package.
    private func library(_ name: String = "library") throws -> String {
        try scratch.write(name + "/Package.swift", "")
        try scratch.write(name + "/Sources/Offstage/Offstage.swift", "")
        return scratch(name)
    }

    @Test(arguments: ["", "1app", "-app", "my app", "a/b", "../up", "app.two", "äpp", "a'b"])
    func whatIsNoNameIsRefused(_ name: String) throws {
        // "--" because a name may look like an option.
        let outcome = try offstage(["new", "--", "app", name], in: scratch.path)
        #expect(outcome.status == .exited(2), "\(outcome)")
        #expect(outcome.errors.contains("is not a valid name for an app"), "\(outcome)")
        #expect(outcome.errors.contains("letters, digits and hyphens"))
        #expect(scratch.entries.isEmpty, "nothing was made")
    }

    @Test func whatCannotBeMadeIsSaid() throws {
        let library = try library()
        let long = String(repeating: "a", count: 65)
        let cases: [(arguments: [String], status: Int32, says: String)] = [
            (["new"], 2, "app NAME"), (["new", "app"], 2, "app NAME"),
            (["new", "extension", "x"], 2, "offstage new app NAME"),
            (["new", "app", long], 2, "is not a valid name for an app"),
            (["new", "app", "offStage"], 2, "Choose another name"),
            (["new", "app", "Swift"], 2, "Choose another name"),
            (["new", "app", "x", "--library", "nowhere"], 3, "Package.swift"),
            (["new", "app", "library", "--library", library], 1, "library is there already"),
        ]
        for (arguments, status, says) in cases {
            let outcome = try offstage(arguments, in: scratch.path)
            #expect(outcome.status == .exited(status), "\(arguments): \(outcome)")
            #expect(outcome.errors.contains(says), "\(arguments): \(outcome)")
        }
        #expect(scratch.entries == ["library"], "nothing was made, nothing was changed")
        #expect(try scratch.read("library/Package.swift") == "")
    }

    @Test(arguments: ["plain", "with space", #"a "quoted" \back $HOME `x` 100% it's"#])
    func itIsWrittenAndItsManifestIsGood(_ folder: String) throws {
        let library = try library(folder + "/library")
        let made = try offstage(
            ["new", "app", "headlines", "--library", "library"],
            in: scratch(folder)
        )
        #expect(made.succeeded, "\(made)")
        #expect(made.output.hasPrefix("headlines is made. Next:\n    cd headlines\n"))
        let app = folder + "/headlines"
        #expect(
            try Files.list(scratch(app)).sorted() == [
                ".gitignore", "Package.swift", "README.md", "Sources", "headlines.desktop",
            ]
        )
        let package = try scratch.read(app + "/Package.swift")
        let path = library.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        #expect(package.contains("path: \"\(path)\")"), "\(package)")
        // An app may be called as a module that it imports.
        #expect(package.contains(".executable(name: \"headlines\", targets: [\"App\"])"))
        #expect(package.contains(".executableTarget(\n            name: \"App\","), "\(package)")
        // With something built where it will be, nothing is left to be said about it.
        try scratch.write(app + "/.build/debug/headlines", "#!/bin/sh\n", permissions: 0o755)
        let lint = try offstage(["lint", "headlines.desktop"], in: scratch(app))
        #expect(
            lint.output.hasPrefix("headlines.desktop: warning: is in no directory that is searched")
                && lint.output.split(separator: "\n").count == 1,
            "\(lint)"
        )
        #expect(lint.succeeded)
        let source = try scratch.read(app + "/Sources/App.swift")
        #expect(source.contains("static let refresh = \"headlines.refresh\""))
        #expect(!source.contains("\\\\("), "interpolations are the app's own")
    }

    @Test func whatItWroteIsPrintedAsJSON() throws {
        let library = try library()
        let words = ["new", "app", "headlines", "--library", library, "--json"]
        let made = try offstage(words, in: scratch.path)
        #expect(made.succeeded, "\(made)")
        try JSONTests.expect("new", made.output)
        let report = try ValueJSON.parse(made.output)
        let folder = scratch("headlines")
        #expect(report["app"] == "headlines" && report["directory"] == .string(folder))
        let files = (report["files"]?.listValue ?? []).compactMap(\.stringValue)
        let tree = try Command("find", folder, "-type", "f").run().output
        #expect(files.sorted() == tree.split(separator: "\n").map(String.init).sorted())
        #expect(report["steps"]?[0] == "cd headlines")
    }

    /// In the tree that it was built from it finds the library by itself.
    @Test func theLibraryBesideTheProgramIsFound() throws {
        let outcome = try offstage(["new", "app", "headlines"], in: scratch.path)
        #expect(outcome.succeeded, "\(outcome)")
        let package = try scratch.read("headlines/Package.swift")
        let path = package.split(separator: "path: \"").dropFirst().first?.prefix { $0 != "\"" }
        let root = try #require(path.map(String.init))
        #expect(Files.exists(root + "/Sources/Offstage"), "\(root)")
        #expect(Products.directory.hasPrefix(root + "/"))
    }

    /// The page about porting says that it builds; so it does.
    @Test func whatItWritesIsSwift() throws {
        let outcome = try offstage(["new", "app", "headlines"], in: scratch.path)
        #expect(outcome.succeeded, "\(outcome)")
        for file in ["Package.swift", "Sources/App.swift"] {
            let parsed = try Command("swiftc", "-parse", scratch("headlines/" + file)).run()
            #expect(parsed.succeeded, "\(file): \(parsed.errors)")
        }
    }
}
