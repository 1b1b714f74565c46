import AppProtocol
import Linux
import Testing
import Vocabulary

/// docs/dbus holds the interface as the table has it. `make docs` writes it anew.
struct ControlDocumentTests {
    @Test func theIntrospectionDocumentIsTheTable() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let file = root.joined(separator: "/") + "/docs/dbus/\(Control1.name).xml"
        if CurrentProcess.environment("OFFSTAGE_WRITE_DOCUMENTS") == "1" {
            try Files.makeDirectory(Files.directory(of: file), permissions: 0o755, parents: true)
            try Files.replace(file, with: Control1.interface.xml, permissions: 0o644)
        }
        #expect(try Files.text(file) == Control1.interface.xml, "make docs writes it anew")
    }

    @Test func everyNameIsThereOnceAndIsDescribed() {
        let interface = Control1.interface
        let names =
            interface.methods.map(\.name) + interface.signals.map(\.name)
            + interface.properties.map(\.name)
        // `Version` is a method, and a property for those that watch.
        #expect(Set(names).count == names.count - 1)
        let documentation =
            interface.methods.map(\.documentation) + interface.signals.map(\.documentation)
            + interface.properties.map(\.documentation)
        for text in documentation { #expect(text.hasSuffix("."), "\(text)") }
    }

    @Test func aCommentCannotBeBrokenByItsText() {
        let interface = Interface("a.B", documentation: "a --> b <tag> & --- c")
        #expect(
            !interface.xml.split(separator: "<!--")[1].split(separator: "-->")[0].contains("--")
        )
        #expect(interface.xml.split(separator: "-->").count == 2)
    }

    @Test func everyErrorHasItsExitStatus() {
        for name in ControlErrorName.allCases {
            #expect(name.rawValue.hasPrefix("org.offstage.Error."))
            switch name {
            case .notFound: #expect(name.exitStatus == 3)
            case .invalid: #expect(name.exitStatus == 2)
            case .held, .unavailable, .tooManyPendingTaskRequests, .notPermitted,
                .immediateRunIneligible, .storage:
                #expect(name.exitStatus == 1)
            }
        }
    }
}
