internal import CLinux
internal import Glibc

/// Command line options by GNU rules (getopt_long): long names may be shortened, short ones
/// bundled, `--` ends them. A negative number is an operand.
package struct Options: Equatable, Sendable {
    package enum Argument: Int32, Sendable { case none, required, optional }

    package struct Option: Equatable, Sendable {
        package var name: String
        package var short: Character?
        package var argument: Argument

        package init(_ name: String, _ short: Character? = nil, _ argument: Argument = .none) {
            (self.name, self.short, self.argument) = (name, short, argument)
        }
    }

    /// What was wrong with the command line.
    package enum Failure: Error, Equatable, Sendable {
        /// The word, as it was typed.
        case unknown(String)
        case missingArgument(String)
    }

    /// In the order given; a name may come more than once.
    package var given: [(name: String, argument: String?)]
    package var operands: [String]

    /// Reads `arguments` (without the program's name). With `inOrder` everything from the first
    /// operand on is an operand, as a command with a command behind it wants it.
    package init(
        _ arguments: [String],
        _ options: [Option],
        inOrder: Bool = false
    ) throws(Failure) {
        given = []
        operands = []
        let words = CStrings(["offstage"] + arguments)
        let names = CStrings(options.map(\.name))
        let table = unsafe options.indices.map { index in
            unsafe clinux_option(
                name: names.pointers[index],
                short_name: Int32(options[index].short?.asciiValue ?? 0),
                argument: options[index].argument.rawValue
            )
        }
        // A bundle of short options gives an entry per letter.
        let capacity = arguments.reduce(1) { $0 + max(1, $1.utf8.count) }
        var parsed = unsafe [clinux_parsed_option](
            repeating: unsafe clinux_parsed_option(),
            count: capacity
        )
        let count = unsafe clinux_parse_options(
            Int32(arguments.count + 1),
            words.pointers,
            table,
            table.count,
            inOrder ? 1 : 0,
            &parsed,
            capacity
        )
        for index in 0..<count {
            let entry = unsafe parsed[index]
            let argument = unsafe entry.argument.map { unsafe String(cString: $0) }
            switch unsafe entry.index {
            case -1: throw .unknown(argument ?? "")
            case -2: throw .missingArgument(argument ?? "")
            case -3: operands.append(argument ?? "")
            default: unsafe given.append((options[Int(entry.index)].name, argument))
            }
        }
    }

    package func has(_ name: String) -> Bool { given.contains { $0.name == name } }

    /// The argument of the last one with this name.
    package subscript(_ name: String) -> String? {
        given.last { $0.name == name }?.argument
    }

    /// The arguments of all with this name.
    package func all(_ name: String) -> [String] {
        given.compactMap { $0.name == name ? $0.argument : nil }
    }

    package static func == (left: Options, right: Options) -> Bool {
        left.operands == right.operands
            && left.given.elementsEqual(right.given) {
                $0.name == $1.name && $0.argument == $1.argument
            }
    }
}
