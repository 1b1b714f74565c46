/// The arguments of a command that stands in a setting, by the rules of manifests: double quotes,
/// no shell, `~/` at the beginning of an argument is the home directory.
package enum ArgumentList {
    /// Nil: not a command line, or an empty one.
    package static func parse(_ text: String, home: String) -> [String]? {
        do {
            return try CommandText.strict(text, home: home)
        } catch {
            return nil
        }
    }

    /// What is wrong with a text that `parse` does not take, and what to write instead.
    package static func mistake(in text: String) -> (reason: String, fix: String)? {
        do throws(Problem) {
            _ = try CommandText.strict(text, home: "/")
            return nil
        } catch {
            return (error.reason, error.fix)
        }
    }
}
