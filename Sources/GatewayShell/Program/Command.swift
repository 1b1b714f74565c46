import Linux
import Vocabulary

/// One subcommand of `offstage-gateway`: what help and the manual page need, and what it does.
package struct GatewayCommand: Sendable {
    package let name: String
    package let summary: String
    package let forms: [String]
    let operands: ClosedRange<Int>
    package let options: [GatewayOption]
    package let details: String
    package let examples: [(String, String)]
    let run: @Sendable (GatewayInvocation) throws(GatewayFailure) -> Void
}

package struct GatewayOption: Sendable {
    package let name: String
    package let argument: String?
    package let meaning: String

    init(_ name: String, _ argument: String? = nil, _ meaning: String) {
        (self.name, self.argument, self.meaning) = (name, argument, meaning)
    }

    package var spelling: String { "--" + name + (argument.map { "=" + $0 } ?? "") }

    static let directory = GatewayOption(
        "directory",
        "PATH",
        "where the gateway's files are (default: $OFFSTAGE_GATEWAY, else "
            + "~/.local/state/offstage-gateway)"
    )
    static let json = GatewayOption("json", nil, "print JSON instead of text")
    static let help = GatewayOption("help", nil, "say how it is used, and exit")
    static let common = [directory, json, help]
}

/// One call: what was typed, and where it prints.
struct GatewayInvocation {
    let options: Options
    let print: (String) -> Void

    var operands: [String] { options.operands }
    var places: GatewayPlaces {
        options["directory"].map { GatewayPlaces($0) } ?? .standard
    }

    /// As JSON if that was asked for, else as `text` says.
    func show(_ value: Value, _ text: (Value) -> [String]) {
        if options.has("json") { return print(value.json(pretty: true)) }
        for line in text(value) { print(line) }
    }

    func integer(_ name: String, _ range: ClosedRange<Int>) throws(GatewayFailure) -> Int? {
        guard let text = options[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw GatewayFailure(
                .usage,
                "--\(name) \(text.quoted) is no number from \(range.lowerBound) to "
                    + "\(range.upperBound)"
            )
        }
        return number
    }

    func reader() throws(GatewayFailure) -> StoreReader {
        guard Files.exists(places.store) else {
            throw GatewayFailure(
                .notFound,
                "there is no store in \(places.directory.quoted)",
                fix: "\"offstage-gateway serve\" makes it at its first start."
            )
        }
        return try failing { try StoreReader(places.store) }
    }
}
