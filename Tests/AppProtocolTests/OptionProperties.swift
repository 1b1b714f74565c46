import AppProtocol
import Vocabulary

/// What holds for the options of `App1` and `Control1`, whatever a peer sends. The fuzz target and
/// the tests share this file.
package enum OptionProperties {
    /// Options, as JSON, are taken within their bounds, or refused with a reason and what to do.
    @Sendable package static func options(_ bytes: [UInt8]) -> String? {
        guard let value = try? ValueJSON.parse(bytes), let options = value.mapValue else {
            return nil
        }
        let name = value["name"] ?? "name"
        return check(App1.table, name, options) ?? check(Control1.table, name, options)
            ?? check(AppObject1.table, name, options)
    }

    private static func check<Calls>(
        _ table: CallTable<Calls>,
        _ name: Value,
        _ options: ValueMap
    ) -> String? {
        for row in table.rows {
            let arguments = row.method.input.map { argument -> Value in
                switch argument.type {
                case "s": .string(name.stringValue ?? "name")
                case "t": options["delivery"] ?? 1
                case "b": options["expires"] ?? true
                case "d": options["after"] ?? 1.5
                case "as": options["registered"] ?? []
                case _: .map(options)
                }
            }
            do throws(OptionError) {
                if let broken = broken(try row.call(arguments)) { return broken }
            } catch {
                if let broken = wrong(error) { return "\(row.method.name): \(broken)" }
            }
        }
        return nil
    }

    private static func broken(_ call: any CallSet) -> String? {
        switch call {
        case App1.hello(let call):
            let path = call.path ?? "/"
            return path.hasPrefix("/") && path.utf8.count <= 255 ? nil : "the path \(path) is taken"
        case App1.submit(let call):
            guard (1...255).contains(call.identifier.utf8.count),
                call.token?.utf8.count ?? 0 <= 64
            else { return "an identifier or token beyond its bounds is taken" }
            return call.earliest.map { $0.nanoseconds < 0 } == true ? "a date before 1970" : nil
        case App1.beginTask(let call):
            return call.name.utf8.count > 255 ? "too long a name" : nil
        case Control1.submit(let call):
            return call.every.map { $0 < .minutes(1) } == true ? "too often" : nil
        case _: return nil
        }
    }

    private static func wrong(_ error: OptionError) -> String? {
        error.reason.isEmpty || error.fix.isEmpty ? "refused without words: \(error)" : nil
    }
}
