import CommandTable
import Linux
import Vocabulary

extension GatewayProgram {
    /// Words after a command that none of its forms has.
    static func misuse(of name: String, _ operands: [String]) -> Failure {
        let forms = (table.commands.first { $0.name == name }?.forms ?? []).filter { !$0.isEmpty }
        let usages = forms.map { "\(Self.name) \(name) \($0)" }
        let usage = "Usage: " + usages.joined(separator: "\n       ")
        let words = forms.map { $0.split(separator: " ").map(String.init) }
        guard let form = words.first(where: { $0.first == operands.first }) else {
            return Failure.unknown(
                "command",
                "\(name) \(operands.first ?? "")",
                among: words.compactMap(\.first).map { "\(name) \($0)" },
                otherwise: usage
            )
        }
        let places = form.filter { !$0.hasPrefix("-") }
        let message =
            operands.count < places.count
            ? "\(name) \(form[0]): \(places[operands.count].prefix { $0 != "." }) is missing"
            : "\(name) \(form[0]): \((operands.last ?? "").quoted) is too much"
        return Failure(.usage, message, fix: usage)
    }
}

extension Failure {
    /// A socket cannot listen at an address.
    init(listening error: LinuxError) {
        let fix =
            switch error.errno {
            case .addressInUse:
                "Another program listens there. Stop it, or say another address with --listen, "
                    + "--devices or --metrics, or in gateway.conf."
            case .access:
                "Ports below 1024 need root, or a service manager that hands over the socket."
            case .addressNotAvailable:
                "The host must be an address of this machine; leave it out to listen on all: :8443."
            default: ""
            }
        self.init(.failed, "\(error)", fix: fix)
    }
}
