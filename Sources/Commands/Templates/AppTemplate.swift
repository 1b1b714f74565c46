/// A Swift package with an app that is kept fresh: builds and runs as it is.
struct AppTemplate: Equatable {
    /// The app's id: of its desktop file, its program and its folder.
    let id: String
    /// Where the package of the library lies.
    let library: String
    /// Where the new package will lie; absolute.
    let directory: String

    /// Letters, digits and hyphens, a letter first: it is a desktop file id, a program and a
    /// Swift target at once.
    static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, first.isLetter, name.utf8.count <= 64 else {
            return false
        }
        return name.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
    }

    /// Packages are told apart by their folders' names without regard to case, and no program is
    /// linked that is called as the standard library.
    static func isTaken(_ name: String) -> Bool {
        name.lowercased() == "offstage" || name == "Swift"
    }

    /// Path below the package's folder, and content.
    var files: [(path: String, text: String)] {
        [
            ("Package.swift", package), ("Sources/App.swift", source), ("\(id).desktop", manifest),
            (".gitignore", ".build/\n"), ("README.md", readme),
        ]
    }

    private var package: String {
        """
        // swift-tools-version: 6.0
        import PackageDescription

        let package = Package(
            name: "\(id)",
            products: [.executable(name: "\(id)", targets: ["App"])],
            dependencies: [.package(name: "offstage", path: "\(Self.swiftQuoted(library))")],
            targets: [
                .executableTarget(
                    name: "App",
                    dependencies: [.product(name: "Offstage", package: "offstage")],
                    path: "Sources"
                )
            ]
        )

        """
    }

    private var source: String {
        """
        import Offstage

        @main
        final class AppDelegate: UIResponder, UIApplicationDelegate {
            /// The identifier in \(id).desktop, under PermittedTaskIdentifiers.
            static let refresh = "\(id).refresh"

            func application(
                _ application: UIApplication,
                didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
            ) -> Bool {
                say(application.applicationState == .background ? "launched to work" : "launched")
                BGTaskScheduler.shared.register(
                    forTaskWithIdentifier: Self.refresh,
                    using: nil
                ) { task in
                    self.handle(task)
                }
                return true
            }

            /// The user has left: request a refresh for later.
            func applicationDidEnterBackground(_ application: UIApplication) {
                askForRefresh()
            }

            private func askForRefresh() {
                let request = BGAppRefreshTaskRequest(identifier: Self.refresh)
                request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
                do {
                    try BGTaskScheduler.shared.submit(request)
                    say("asked for a refresh")
                } catch {
                    say("no refresh: \\(error.localizedDescription)")
                }
            }

            /// Runs for up to 30 seconds, at a time that the device chooses.
            private func handle(_ task: BGTask) {
                // One request is one launch, so request the next one first.
                askForRefresh()
                let work = Task {
                    let success = await fetchContent()
                    say("refreshed: \\(success)")
                    task.setTaskCompleted(success: success)
                }
                task.expirationHandler = { work.cancel() }
            }

            /// Fetches the app's content.
            private func fetchContent() async -> Bool {
                do {
                    try await Task.sleep(for: .seconds(1))
                    return true
                } catch {
                    return false
                }
            }
        }

        /// Writes one line at once, so that a suspended or terminated app loses no output.
        func say(_ line: String) {
            FileHandle.standardOutput.write(Data((line + "\\n").utf8))
        }

        """
    }

    private var manifest: String {
        """
        [Desktop Entry]
        Type=Application
        Name=\(id)
        Exec=\(Self.desktopQuoted("\(directory)/.build/debug/\(id)"))
        NoDisplay=true

        [X-Offstage]
        BackgroundModes=fetch;
        PermittedTaskIdentifiers=\(id).refresh;

        """
    }

    /// As it stands between the quotes of a string in Swift.
    private static func swiftQuoted(_ text: String) -> String {
        var quoted = ""
        for character in text {
            if character == "\"" || character == "\\" { quoted.append("\\") }
            quoted.append(character)
        }
        return quoted
    }

    /// As `Exec=` wants a path with characters that mean something there.
    private static func desktopQuoted(_ path: String) -> String {
        let plain = path.utf8.allSatisfy { byte in
            byte.isLetter || byte.isDigit || "/._-+:@".utf8.contains(byte)
        }
        guard !plain else { return path }
        var quoted = "\""
        for character in path {
            // Twice: once for the quotes, once for the desktop file.
            if "\"`$\\".contains(character) { quoted += "\\\\" }
            if character == "%" { quoted += "%" }
            quoted.append(character)
            if character == "\\" { quoted.append("\\") }
        }
        return quoted + "\""
    }

    /// What to type next.
    var steps: [String] {
        [
            "cd \(id)",
            "swift build",
            "mkdir -p ~/.local/share/applications",
            "cp \(id).desktop ~/.local/share/applications/",
            "offstage open \(id)",
            "offstage leave \(id)",
            "offstage simulate launch \(id)",
            "offstage logs \(id)",
        ]
    }

    private var readme: String {
        """
        # \(id)

        An app that Offstage keeps fresh. To try it:

        \(steps.dropFirst().map { "    " + $0 }.joined(separator: "\n"))

        `offstage explain \(id)` says when it will be refreshed, and why not now. The handler is in
        `Sources/App.swift`; what the app may submit is declared in `\(id).desktop`, which
        `offstage lint \(id).desktop` checks.

        """
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
