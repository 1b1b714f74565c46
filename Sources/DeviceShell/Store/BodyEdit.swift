internal import Vocabulary

/// What a body in the store is of. These are words on the disk: what a record is called in the code
/// later is no concern of a step that was taken before.
enum StoredKind: String, CaseIterable, Sendable {
    case device, app, request, launch, transfer
    /// Of the history.
    case line
}

/// One change of the form of all bodies of one kind, part of a step of the store.
///
/// A path names the fields that lead to a value, separated by dots; a case of an enum is a field,
/// and `*` is each element of a list: `launch.deliveries.*.trigger`. The empty path is the body.
/// Where there is no such value, nothing is changed: an optional field may be absent.
struct BodyEdit: Sendable {
    let kind: StoredKind
    private let path: [String]
    private let change: @Sendable (inout Value) throws(ValueError) -> Void

    /// Does anything with the value at `path`.
    init(
        in kind: StoredKind,
        at path: String = "",
        _ change: @escaping @Sendable (inout Value) throws(ValueError) -> Void
    ) {
        self.kind = kind
        self.path = path.split(separator: ".").map(String.init)
        self.change = change
    }

    /// The field `old` of the map at `path` is called `new`. So is a case of an enum with
    /// associated values.
    static func rename(
        _ old: String,
        to new: String,
        in kind: StoredKind,
        at path: String = ""
    ) -> BodyEdit {
        .fields(in: kind, at: path) { (fields) throws(ValueError) in
            guard let value = fields[old] else { return }
            try fields.insert(value, as: new)
            fields[old] = nil
        }
    }

    /// The word `old` at `path` is spelled `new`: a case of an enum that is stored as a string.
    static func respell(
        _ old: String,
        as new: String,
        in kind: StoredKind,
        at path: String
    ) -> BodyEdit {
        BodyEdit(in: kind, at: path) { (value) throws(ValueError) in
            if value == .string(old) { value = .string(new) }
        }
    }

    /// The map at `path` has no field `name` any more.
    static func remove(_ name: String, in kind: StoredKind, at path: String = "") -> BodyEdit {
        .fields(in: kind, at: path) { (fields) throws(ValueError) in fields[name] = nil }
    }

    /// The map at `path` has a field `name`, which is `value` where there was none.
    static func add(
        _ name: String,
        _ value: Value,
        in kind: StoredKind,
        at path: String = ""
    ) -> BodyEdit {
        .fields(in: kind, at: path) { (fields) throws(ValueError) in
            if fields[name] == nil { fields[name] = value }
        }
    }

    /// Fields of the map at `path` go into a map of their own in its field `inner`, which is made
    /// where there is one of them and it is not there yet.
    static func move(
        _ names: [String],
        into inner: String,
        in kind: StoredKind,
        at path: String = ""
    ) -> BodyEdit {
        .fields(in: kind, at: path) { (fields) throws(ValueError) in
            var moved = fields[inner]?.mapValue ?? ValueMap()
            for name in names {
                guard let value = fields[name] else { continue }
                try moved.insert(value, as: name)
                fields[name] = nil
            }
            if !moved.isEmpty { fields[inner] = .map(moved) }
        }
    }

    /// Replaces fields of the map at `path` by a list in a new field `list`. Each field that is
    /// there becomes a map, with its word in the field `word` and its value in the field `value`.
    /// Without any of them, no list is added.
    static func gather(
        _ fields: [(name: String, word: String)],
        of word: String,
        and value: String,
        into list: String,
        in kind: StoredKind,
        at path: String = ""
    ) -> BodyEdit {
        .fields(in: kind, at: path) { (map) throws(ValueError) in
            var gathered: [Value] = []
            for field in fields {
                guard let found = map[field.name] else { continue }
                gathered.append(.map([word: .string(field.word), value: found]))
                map[field.name] = nil
            }
            if !gathered.isEmpty { try map.insert(.list(gathered), as: list) }
        }
    }

    /// The field `name` of the map at `path` is one of a list now, in its field `list`.
    static func enlist(
        _ name: String,
        in kind: StoredKind,
        at path: String = "",
        as list: String
    ) -> BodyEdit {
        .fields(in: kind, at: path) { (fields) throws(ValueError) in
            guard let value = fields[name] else { return }
            try fields.insert(.list([value]), as: list)
            fields[name] = nil
        }
    }

    private static func fields(
        in kind: StoredKind,
        at path: String,
        _ change: @escaping @Sendable (inout ValueMap) throws(ValueError) -> Void
    ) -> BodyEdit {
        BodyEdit(in: kind, at: path) { (value) throws(ValueError) in
            guard case .map(var fields) = value else { return }
            try change(&fields)
            value = .map(fields)
        }
    }

    func apply(to body: inout Value) throws(ValueError) {
        try Self.apply(change, to: &body, at: path[...])
    }

    private static func apply(
        _ change: (inout Value) throws(ValueError) -> Void,
        to value: inout Value,
        at path: ArraySlice<String>
    ) throws(ValueError) {
        guard let name = path.first else { return try change(&value) }
        let rest = path.dropFirst()
        switch value {
        case .list(var list):
            guard name == "*" else { return }
            for index in list.indices { try apply(change, to: &list[index], at: rest) }
            value = .list(list)
        case .map(var fields):
            guard var inner = fields[name] else { return }
            try apply(change, to: &inner, at: rest)
            fields[name] = inner
            value = .map(fields)
        case .null, .bool, .integer, .double, .string, .bytes: break
        }
    }
}

extension ValueMap {
    fileprivate mutating func insert(_ value: Value, as name: String) throws(ValueError) {
        guard self[name] == nil else {
            throw ValueError(.duplicateKey, path: name, "is there already")
        }
        self[name] = value
    }
}
