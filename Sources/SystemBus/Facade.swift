internal import Glibc
import Linux
import Vocabulary

/// What client libraries expect of a message bus before they talk to anyone on it.
enum Facade {
    static let name = "org.freedesktop.DBus"
    static let object = Server.Object("/org/freedesktop/DBus", [interface])

    static let interface = Interface(
        name,
        methods: [
            method("Hello", "", "s"),
            method("AddMatch", "s", ""),
            method("RemoveMatch", "s", ""),
            method("GetNameOwner", "s", "s"),
            method("NameHasOwner", "s", "b"),
            method("ListNames", "", "as"),
            method("ListActivatableNames", "", "as"),
            method("RequestName", "su", "u"),
            method("ReleaseName", "s", "u"),
            method("StartServiceByName", "su", "u"),
            method("GetConnectionUnixProcessID", "s", "u"),
            method("GetConnectionUnixUser", "s", "u"),
            method("GetConnectionCredentials", "s", "a{sv}"),
            method("GetId", "", "s"),
        ],
        signals: [
            Interface.Signal("NameAcquired", [Interface.Argument("name", "s")], ""),
            Interface.Signal(
                "NameOwnerChanged",
                ["name", "old", "new"].map { Interface.Argument($0, "s") },
                ""
            ),
        ]
    )

    private static func method(_ name: String, _ input: String, _ output: String)
        -> Interface.Method
    {
        let types = BusType.list(input) ?? []
        return Interface.Method(
            name,
            input: types.enumerated().map {
                Interface.Argument("argument\($0.offset)", $0.element.signature)
            },
            output: output.isEmpty ? [] : [Interface.Argument("answer", output)],
            ""
        )
    }

    static func answer(_ call: IncomingCall) {
        call.sender = name
        let subject = call.arguments.first?.stringValue ?? ""
        switch call.method.name {
        case "Hello": hello(call)
        case "AddMatch":
            guard call.connection.matches.count < SignalMatch.limit else {
                return call.refuse(ErrorName.limitsExceeded, "too many match rules")
            }
            call.connection.matches.append(SignalMatch(subject))
            call.answer()
        case "RemoveMatch":
            let rule = SignalMatch(subject)
            if let index = call.connection.matches.firstIndex(of: rule) {
                call.connection.matches.remove(at: index)
            }
            call.answer()
        case "GetNameOwner":
            guard let owner = owner(of: subject, call) else { return refuse(call, subject) }
            call.answer([.string(owner)])
        case "NameHasOwner": call.answer([.bool(owner(of: subject, call) != nil)])
        case "ListNames":
            let names = [
                name, call.connection.server.name, Connection.ownName, Connection.peerName,
            ]
            call.answer([.list(names.map { .string($0) })])
        case "ListActivatableNames": call.answer([.list([])])
        // Primary owner; nothing is shared with others here.
        case "RequestName": call.answer([1])
        case "ReleaseName": call.answer([1])
        case "StartServiceByName":
            guard owner(of: subject, call) != nil else {
                return call.refuse(ErrorName.serviceUnknown, "'\(subject)' is not here")
            }
            // Already running.
            call.answer([2])
        case "GetConnectionUnixProcessID", "GetConnectionUnixUser", "GetConnectionCredentials":
            credentials(call, subject)
        case "GetId": call.answer([.string(call.connection.server.idText)])
        default: call.refuse(ErrorName.unknownMethod, "no such method")
        }
    }

    private static func hello(_ call: IncomingCall) {
        let connection = call.connection
        guard !connection.saidHello else {
            return call.refuse(ErrorName.failed, "Hello was said before")
        }
        connection.saidHello = true
        call.answer([.string(Connection.peerName)])
        let acquired = try? connection.bus.newSignal(
            "NameAcquired",
            of: name,
            at: object.path,
            [.string(Connection.peerName)],
            "s"
        )
        guard let acquired else { return connection.end() }
        acquired.address(from: name, to: Connection.peerName)
        connection.send(acquired, size: 64)
    }

    private static func owner(of subject: String, _ call: IncomingCall) -> String? {
        switch subject {
        case name: name
        case call.connection.server.name, Connection.ownName: Connection.ownName
        case Connection.peerName: Connection.peerName
        default: nil
        }
    }

    private static func credentials(_ call: IncomingCall, _ subject: String) {
        guard let owner = owner(of: subject, call) else { return refuse(call, subject) }
        let isPeer = owner == Connection.peerName
        let pid = Int64(isPeer ? call.connection.peer.pid : getpid())
        let user = Int64(isPeer ? call.connection.peer.user : geteuid())
        switch call.method.name {
        case "GetConnectionUnixProcessID": call.answer([.integer(pid)])
        case "GetConnectionUnixUser": call.answer([.integer(user)])
        default: call.answer([["ProcessID": .integer(pid), "UnixUserID": .integer(user)]])
        }
    }

    private static func refuse(_ call: IncomingCall, _ subject: String) {
        call.refuse(ErrorName.nameHasNoOwner, "'\(subject)' is not here")
    }
}
