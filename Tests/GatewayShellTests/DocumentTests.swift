import GatewayShell
import Linux
import Testing

/// The manual page in docs/ is what the program prints; `make docs` writes it anew.
struct DocumentTests {
    @Test func `the manual page is the program's`() throws {
        let path =
            String(#filePath.dropLast("Tests/GatewayShellTests/DocumentTests.swift".count))
            + "docs/man/offstage-gateway.1"
        let text = GatewayHelp.manual + "\n"
        if CurrentProcess.environment("OFFSTAGE_WRITE_DOCUMENTS") != nil {
            try Files.replace(path, with: text, permissions: 0o644)
        }
        #expect(try Files.text(path) == text, "`make docs` writes it anew")
    }
}
