import Vocabulary

/// The fields of a call on their way: read from what D-Bus carried, written for it, or listed for
/// the documents. A call names each field once for all three.
///
/// Every option is taken once, and what is left over may be refused by name.
package struct Fields {
    private enum Mode { case reading, writing, listing }

    private let mode: Mode
    /// By position: not read yet, or written.
    private var positional: [Value] = []
    private var options: ValueMap = [:]
    private var takesOptions = false
    private var listed: [Interface.Argument] = []
    /// Options by name, each as the documents have it.
    private var known: [(name: String, documentation: String)] = []

    private init(_ mode: Mode) { self.mode = mode }

    static func reading(_ arguments: [Value]) -> Fields {
        var fields = Fields(.reading)
        fields.positional = arguments
        // No argument by position is a map.
        if let options = arguments.last?.mapValue {
            fields.positional.removeLast()
            fields.options = options
        }
        return fields
    }

    static func writing() -> Fields { Fields(.writing) }
    static func listing() -> Fields { Fields(.listing) }

    var written: [Value] { positional + (takesOptions ? [.map(options)] : []) }

    var arguments: [Interface.Argument] {
        listed + (takesOptions ? [Interface.Argument("options", "a{sv}")] : [])
    }

    var documentation: String {
        known.isEmpty ? "" : "Options: \(known.map(\.documentation).joined(separator: ", "))."
    }

    /// Everything known has been taken.
    func finish() throws(OptionError) {
        guard let key = options.keys.first else { return }
        throw OptionError(
            reason: "there is no option of that name",
            value: key,
            fix: known.isEmpty
                ? "this call has no options"
                : "the options are " + known.map(\.name).joined(separator: ", ")
        )
    }

    // MARK: What a call names

    /// The next argument. `type`: as D-Bus has it, where that differs.
    mutating func argument<Field: FieldType>(
        _ name: String,
        _ field: inout Field,
        as type: String = Field.type
    ) throws(OptionError) {
        switch mode {
        case .reading:
            guard !positional.isEmpty else {
                throw OptionError(reason: "\(name) is missing", value: "", fix: "give \(name)")
            }
            field = try Field(positional.removeFirst(), of: name)
        case .writing: positional.append(field.value)
        case .listing: listed.append(Interface.Argument(name, type))
        }
    }

    /// `note`: for the documents. `type`: as in `argument`.
    mutating func option<Field: FieldType>(
        _ name: String,
        _ field: inout Field?,
        as type: String = Field.type,
        _ note: String = ""
    ) throws(OptionError) {
        noOptions()
        let words = [type, Field.unit, Field.limit, note].filter { !$0.isEmpty }
        known.append((name, "\(name) (\(words.joined(separator: ", ")))"))
        switch mode {
        case .reading:
            guard let value = options[name] else { return field = nil }
            options[name] = nil
            field = try Field(value, of: name)
        case .writing: if let field { options[name] = field.value }
        case .listing: break
        }
    }

    /// An option of a map inside another: one that must be there.
    mutating func required<Field: FieldType>(
        _ name: String,
        _ field: inout Field
    ) throws(OptionError) {
        var found = mode == .reading ? nil : field
        try option(name, &found)
        guard let found else {
            throw OptionError(reason: "\(name) is missing", value: "", fix: "give \(name)")
        }
        field = found
    }

    /// The same of a text that may be longer than others.
    mutating func required(
        _ name: String,
        _ text: inout String,
        upTo limit: Int
    ) throws(OptionError) {
        var found = mode == .reading ? nil : text
        try option(name, &found, upTo: limit)
        guard let given = found else {
            throw OptionError(reason: "\(name) is missing", value: "", fix: "give \(name)")
        }
        text = given
    }

    /// False is left out.
    mutating func option(
        _ name: String,
        _ flag: inout Bool,
        _ note: String = ""
    ) throws(OptionError) {
        var field = flag ? true : nil
        try option(name, &field, note)
        flag = field ?? false
    }

    mutating func option(
        _ name: String,
        _ number: inout Int64?,
        in range: ClosedRange<Int64>,
        _ note: String = ""
    ) throws(OptionError) {
        try option(name, &number, note)
        guard mode == .reading, let number, !range.contains(number) else { return }
        let bounds = "a number from \(range.lowerBound) to \(range.upperBound)"
        throw OptionError(name, .integer(number), isNot: bounds)
    }

    /// A text that may be longer than others.
    mutating func option(
        _ name: String,
        _ text: inout String?,
        upTo limit: Int,
        _ note: String = ""
    ) throws(OptionError) {
        guard mode == .reading, let value = options[name] else {
            return try option(name, &text, note)
        }
        options[name] = nil
        try option(name, &text, note)
        text = try String.bounded(value, of: name, to: limit)
    }

    /// Numbers that may be more than other lists have.
    mutating func option(
        _ name: String,
        _ numbers: inout [Int64]?,
        upTo limit: Int,
        _ note: String = ""
    ) throws(OptionError) {
        guard mode == .reading, let value = options[name] else {
            return try option(name, &numbers, note)
        }
        options[name] = nil
        try option(name, &numbers, note)
        numbers = try [Int64](value, of: name, upTo: limit)
    }

    /// By it a call that is made again is known.
    mutating func token(_ token: inout String?, _ note: String) throws(OptionError) {
        try option("token", &token, note)
        guard mode == .reading, let token, token.utf8.count > 64 else { return }
        throw OptionError(
            reason: "the token is too long",
            value: token,
            fix: "at most 64 bytes"
        )
    }

    mutating func needs(_ needs: inout Needs) throws(OptionError) {
        try option("network", &needs.network)
        try option("power", &needs.power, "processing only")
        try option("unmetered", &needs.unmetered)
        try option("unlocked", &needs.unlocked)
    }

    /// Options that are not known one by one.
    mutating func allOptions(_ map: inout ValueMap) {
        noOptions()
        switch mode {
        case .reading: (map, options) = (options, [:])
        case .writing: options = map
        case .listing: break
        }
    }

    /// Options that are the fields of one record.
    mutating func record<Record: Codable>(_ record: inout Record) throws(OptionError) {
        noOptions()
        switch mode {
        case .reading:
            do {
                record = try ValueDecoder().decode(Record.self, from: .map(options))
            } catch {
                throw OptionError(reason: "\(error)", value: "", fix: "give it as documented")
            }
            options = [:]
        // What is ours always encodes.
        case .writing:
            options = (try? ValueEncoder().encode(record))?.mapValue ?? [:]
        case .listing: break
        }
    }

    /// There is a map for options, and none is known yet.
    mutating func noOptions() { takesOptions = true }
}

/// What was wrong with an option, in words.
package struct OptionError: Error, Equatable, Sendable {
    package var reason: String
    package var value: String
    package var fix: String

    package init(reason: String, value: String, fix: String) {
        (self.reason, self.value, self.fix) = (reason, value, fix)
    }

    init(_ name: String, _ value: Value, isNot wanted: String) {
        reason = "\(name) is not \(wanted)"
        // JSON has no word for such a number.
        let odd = value.doubleValue.flatMap { $0.isFinite ? nil : "\($0)" }
        self.value = String((odd ?? value.json()).prefix(80))
        fix = "give \(wanted)"
    }

    static func check(headers: [String]?) throws(OptionError) {
        for header in headers ?? [] {
            guard HTTPField(line: header) == nil else { continue }
            throw OptionError(
                reason: "a header is not NAME: VALUE",
                value: header,
                fix: "write it as NAME: VALUE"
            )
        }
    }
}
