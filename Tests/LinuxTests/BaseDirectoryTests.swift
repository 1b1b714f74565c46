import Linux
import Testing

/// Where a user's files are.
struct BaseDirectoryTests {
    @Test(arguments: [
        (BaseDirectory.configuration, "/h/.config"), (.data, "/h/.local/share"),
        (.state, "/h/.local/state"), (.cache, "/h/.cache"),
    ])
    func `a directory is where the environment says, or in its usual place`(
        directory: BaseDirectory,
        usual: String
    ) {
        func path(_ value: String?) -> String {
            directory.path(home: "/h") { $0 == directory.rawValue ? value : "/else" }
        }
        #expect(path("/own") == "/own")
        #expect(path(nil) == usual)
        // A relative path is as none (the specification asks for that).
        #expect(path("own") == usual)
        #expect(path("") == usual)
    }

    @Test func `the home is where the environment says, or where the user's entry does`() throws {
        #expect(BaseDirectory.home { $0 == "HOME" ? "/own" : nil } == "/own")
        let known = try #require(User.current()).home
        #expect(BaseDirectory.home { _ in nil } == known)
        #expect(BaseDirectory.home { _ in "own" } == known)
    }
}
