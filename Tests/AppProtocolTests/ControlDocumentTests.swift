import AppProtocol
import Linux
import TestKit
import Testing
import Vocabulary

/// docs/dbus holds the interfaces as the tables have them. `make docs` writes it anew.
struct ControlDocumentTests {
    private static let interfaces = [
        Control1.interface, App1.interface, AppObject1.interface, Discovery1.interface,
        Wake1.interface,
    ]

    @Test(arguments: interfaces)
    func theIntrospectionDocumentIsTheTable(_ interface: Interface) throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let file = root.joined(separator: "/") + "/docs/dbus/\(interface.name).xml"
        if CurrentProcess.environment("OFFSTAGE_WRITE_DOCUMENTS") == "1" {
            try Files.makeDirectory(Files.directory(of: file), permissions: 0o755, parents: true)
            try Files.replace(file, with: interface.xml, permissions: 0o644)
        }
        #expect(try Files.text(file) == interface.xml, "make docs writes it anew")
    }

    @Test(arguments: interfaces)
    func everyNameIsThereOnceAndIsDescribed(_ interface: Interface) {
        let names =
            interface.methods.map(\.name) + interface.signals.map(\.name)
            + interface.properties.map(\.name)
        // `Version` is a method, and a property for those that watch.
        let doubled = interface.name == Control1.name ? 1 : 0
        #expect(Set(names).count == names.count - doubled)
        let documentation =
            interface.methods.map(\.documentation) + interface.signals.map(\.documentation)
            + interface.properties.map(\.documentation)
        for text in documentation { #expect(text.hasSuffix("."), "\(text)") }
    }

    /// Whoever writes a client reads nothing else.
    @Test func numbersHaveUnitsAndWordsAreListed() {
        func text(_ interface: Interface, _ method: String) -> String {
            interface.methods.first { $0.name == method }?.documentation ?? ""
        }
        for (method, unit) in [
            ("Go", "deadline (d, CLOCK_MONOTONIC seconds"),
            ("Expire", "deadline (d, CLOCK_MONOTONIC seconds"),
            ("Offer", "sessionEvents"), ("TaskEnded", "body"),
        ] {
            #expect(text(AppObject1.interface, method).contains(unit), "\(method)")
        }
        let submit = text(App1.interface, "Submit")
        #expect(submit.contains("earliest (d, Unix seconds, at most 9000000000)"))
        #expect(text(App1.interface, "Limits").contains("deadline (d, CLOCK_MONOTONIC seconds)"))
        let absent =
            "deadline (d, CLOCK_MONOTONIC seconds; absent while the app is in the foreground)"
        for method in ["Go", "Expire", "ExpireTask"] {
            #expect(text(AppObject1.interface, method).contains(absent), "\(method)")
        }
        #expect(text(App1.interface, "BeginTask").contains(absent))
        #expect(text(App1.interface, "EnqueueTasks").contains("session that is joined"))
        let command = text(Control1.interface, "Submit")
        #expect(command.contains("after (d, seconds, at most 100 years)"))
        let actions = text(App1.interface, "ChangeTasks")
        for action in App1.TaskAction.allCases { #expect(actions.contains(action.rawValue)) }
        let others = text(Control1.interface, "ChangeTransfers")
        for action in Control1.TransferAction.allCases {
            #expect(others.contains(action.rawValue))
        }
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
