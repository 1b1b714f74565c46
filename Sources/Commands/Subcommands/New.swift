import CommandTable
import Linux
import Vocabulary

/// Beginnings of new apps.
extension OffstageProgram {
    static let new = Subcommand(
        "new",
        "create the skeleton of an app",
        forms: ["app NAME"],
        operands: 2...2,
        options: [
            OptionRow(
                "library",
                "the package of the library (default: the one that this program came with)",
                argument: "DIRECTORY"
            )
        ],
        details: [
            "Creates the folder NAME with a Swift package: an app delegate with a handler for a "
                + "background refresh, and its manifest. It builds and runs without changes."
        ],
        examples: [
            Example("new app headlines", "Create a package in ./headlines."),
            Example("new app headlines --library ~/src/offstage", "Use that library."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        guard invocation.operands[0] == "app" else {
            throw Failure(
                .usage,
                "\(invocation.operands[0].quoted) cannot be made",
                fix: "Write: offstage new app NAME."
            )
        }
        let id = invocation.operands[1]
        guard AppTemplate.isName(id) else {
            throw Failure(
                .usage,
                "\(id.quoted) is not a valid name for an app",
                fix: "Use letters, digits and hyphens, a letter first."
            )
        }
        guard !AppTemplate.isTaken(id) else {
            throw Failure(
                .usage,
                "\(id.quoted) is what the library, or the language, is called",
                fix: "Choose another name."
            )
        }
        do {
            let directory = try Files.currentDirectory() + "/" + id
            guard !Files.exists(directory) else {
                throw Failure(.failed, "\(id) is there already", fix: "Choose another name.")
            }
            let library = try library(invocation.options["library"])
            let template = AppTemplate(id: id, library: library, directory: directory)
            var made: [Value] = []
            for (path, text) in template.files {
                let file = "\(directory)/\(path)"
                try Files.makeDirectory(
                    Files.directory(of: file),
                    permissions: 0o777,
                    parents: true
                )
                try Files.replace(file, with: text, permissions: 0o644)
                made.append(.string(file))
            }
            let report: Value = [
                "app": .string(id), "directory": .string(directory), "files": .list(made),
                "steps": .list(template.steps.map { .string($0) }),
            ]
            invocation.show(report) { _ in
                invocation.console.print("\(id) is made. Next:")
                for step in template.steps { invocation.console.print("    " + step) }
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.failed, "\(id) cannot be made: \(error)")
        }
    }

    /// Installed, the library's source lies in share; built from a tree, it is that tree.
    private static func library(_ given: String?) throws(Failure) -> String {
        func holds(_ directory: String) -> Bool {
            Files.exists(directory + "/Package.swift")
                && Files.exists(directory + "/Sources/Offstage")
        }
        if let given {
            let here = (try? Files.currentDirectory()) ?? ""
            let path = given.hasPrefix("/") ? given : here + "/" + given
            guard holds(path) else {
                throw Failure(
                    .notFound,
                    "the library is not in \(given.quoted)",
                    fix: "Give the folder that holds its Package.swift."
                )
            }
            return path
        }
        var directory = Files.directory(of: Files.linkTarget("/proc/self/exe") ?? "/")
        while directory != "/" {
            for candidate in [directory, directory + "/share/offstage/swift"]
            where holds(candidate) {
                return candidate
            }
            directory = Files.directory(of: directory)
        }
        throw Failure(
            .notFound,
            "the source of the library is not beside this program",
            fix: "Specify its directory with --library."
        )
    }
}
