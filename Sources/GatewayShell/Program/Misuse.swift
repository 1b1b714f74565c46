import CommandTable
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
        let command = "\(name) \(form[0])"
        guard operands.count < places.count else {
            return Failure(unexpected: operands.last ?? "", to: command, fix: usage)
        }
        let missing = places[operands.count].prefix { $0 != "." }
        return Failure(.usage, "\(command): \(missing) is missing", fix: usage)
    }
}
