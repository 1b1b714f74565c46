import Linux
import TestKit
import Testing

/// Why a program could not be started, as it is told to whoever asked for it.
struct StartErrorTests {
    private let scratch = ScratchDirectory()

    private func told(_ program: String) -> String {
        let error = LinuxError("execve", program, .noEntry)
        return error.explanation(starting: program, in: scratch.path)
    }

    @Test func `where a program is missing is told as it was looked for`() throws {
        #expect(told("nosuch") == "nosuch is not installed, or not in PATH")
        #expect(told("/nosuch") == "/nosuch is not there")
        #expect(told("./nosuch.sh") == "there is no file ./nosuch.sh in \(scratch.path)")
        try scratch.write("tool", "#!/no/such/interpreter\n", permissions: 0o755)
        #expect(told("./tool") == "the interpreter of ./tool is not installed")
        #expect(told(scratch("tool")).hasPrefix("the interpreter of "))
    }

    @Test func `a command line in quotes is told from a program`() throws {
        let words = "\"restic backup ~\" is one word, and no program has that name"
        #expect(told("restic backup ~").hasPrefix(words))
        try scratch.write("my tool", "#!/no/such/interpreter\n", permissions: 0o755)
        #expect(told("./my tool").hasPrefix("the interpreter of "))
    }
}
