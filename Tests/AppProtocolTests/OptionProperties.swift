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
        let name = value["name"]?.stringValue ?? "name"
        return hello(options) ?? request(name, options) ?? task(name, options)
            ?? submission(options, ofAnApp: true) ?? submission(options, ofAnApp: false)
    }

    private static func hello(_ options: ValueMap) -> String? {
        do throws(OptionError) {
            let hello = try HelloOptions(options)
            guard hello.path.hasPrefix("/"), hello.path.utf8.count <= 255 else {
                return "the path \(hello.path) is taken"
            }
            guard let again = hello.again else { return nil }
            let isNegative =
                again.running.contains { $0 < 0 } || again.finished.contains { $0.delivery < 0 }
            return isNegative ? "a delivery below 0 is taken" : nil
        } catch {
            return wrong(error)
        }
    }

    private static func request(_ name: String, _ options: ValueMap) -> String? {
        do throws(OptionError) {
            let request = try RequestOptions(name, options)
            guard (1...255).contains(request.identifier.utf8.count),
                request.token?.utf8.count ?? 0 <= 64
            else { return "an identifier or token beyond its bounds is taken" }
            return request.earliest.map { $0.nanoseconds < 0 } == true ? "a date before 1970" : nil
        } catch {
            return wrong(error)
        }
    }

    private static func task(_ name: String, _ options: ValueMap) -> String? {
        do throws(OptionError) {
            return try TaskOptions(name, options).name.utf8.count > 255 ? "too long a name" : nil
        } catch {
            return wrong(error)
        }
    }

    private static func submission(_ options: ValueMap, ofAnApp: Bool) -> String? {
        do throws(OptionError) {
            let submission = try SubmitOptions(options, ofAnApp: ofAnApp)
            if submission.command.isEmpty != ofAnApp { return "a command in the wrong place" }
            return submission.every.map { $0 < .minutes(1) } == true ? "too often" : nil
        } catch {
            return wrong(error)
        }
    }

    private static func wrong(_ error: OptionError) -> String? {
        error.reason.isEmpty || error.fix.isEmpty ? "refused without words: \(error)" : nil
    }
}
