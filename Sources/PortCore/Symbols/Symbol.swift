/// A name of Apple's that background code uses, and what becomes of it here.
package struct Symbol: Sendable {
    package enum State: String, CaseIterable, Sendable {
        /// Source that uses it compiles and means the same.
        case here
        /// It is here, and something about it is not as it was.
        case differs
        /// A later version is meant to have it.
        case notYet = "not-yet"
        case never
    }

    /// How the name is found in source.
    package enum Form: Hashable, Sendable {
        /// A type, a function or a constant, by its name alone.
        case name
        /// A member behind the names that lead to it: `URLSession.shared`.
        case path
        /// A method that an app implements, by its whole name: `scene(_:willConnectTo:options:)`.
        case method
        /// A call, by the label of an argument.
        case label(String)
        /// A call of a type's initializer, by the label of its first argument:
        /// `String(localized:)`.
        case initializer(String)
        /// A module that is imported.
        case module
        /// Something of the language, which the reader of sources finds by itself.
        case language
    }

    /// Where the member of a path is known without the names that lead to it: `.default`.
    package enum Implicit: Hashable, Sendable {
        /// No other type that matters has it.
        case anywhere
        /// As the argument behind this label.
        case argument(String)
        /// Called with an argument behind this label.
        case call(String)
        /// As the key of a variable of this name.
        case key(String)
        /// Behind a variable of this name.
        case variable(String)
    }

    /// As Apple's documentation writes it.
    package let name: String
    package let form: Form
    package let state: State
    package let implicit: Implicit?
    /// What is different, or why it is not here; empty for what is here.
    package let text: String
    /// What to write instead; empty if nothing has to be changed.
    package let replacement: String

    init(
        _ name: String,
        _ form: Form,
        _ state: State,
        _ text: String = "",
        instead replacement: String = "",
        implicit: Implicit? = nil
    ) {
        (self.name, self.form, self.state, self.implicit) = (name, form, state, implicit)
        (self.text, self.replacement) = (text, replacement)
    }

    /// Whether source that uses it has to be changed.
    package var mustChange: Bool {
        switch state {
        case .here: false
        case .differs: !replacement.isEmpty
        case .notYet, .never: true
        }
    }

    /// The word by which a lexer finds it; nil if it is found otherwise.
    var word: String? {
        switch form {
        case .name: name
        case .path: components.last
        case .method: String(name.prefix { $0 != "(" })
        case .label(let label), .initializer(let label): label
        case .module, .language: nil
        }
    }

    /// The type whose name it is, or begins with.
    var owner: String? {
        switch form {
        case .name: name
        case .path: components.first
        case .method, .label, .initializer, .module, .language: nil
        }
    }

    /// `URLSession` and `shared` of `URLSession.shared`.
    package var components: [String] { name.split(separator: ".").map(String.init) }
}

extension [Symbol] {
    /// Several with the same fate.
    static func all(
        _ names: [String],
        _ form: Symbol.Form = .name,
        _ state: Symbol.State,
        _ text: String = "",
        instead replacement: String = "",
        implicit: Symbol.Implicit? = nil
    ) -> [Symbol] {
        names.map { Symbol($0, form, state, text, instead: replacement, implicit: implicit) }
    }
}
