@testable import DeviceShell
import Testing
import Vocabulary

/// The parts that a step of the store is made of.
struct BodyEditTests {
    private func edited(_ body: Value, _ edits: BodyEdit...) throws -> Value {
        var body = body
        for edit in edits { try edit.apply(to: &body) }
        return body
    }

    @Test func `a field is renamed, wherever it is`() throws {
        #expect(
            try edited(["purse": [1], "day": 2], .rename("purse", to: "budget", in: .device))
                == ["budget": [1], "day": 2]
        )
        let body: Value = ["launch": ["wakes": [["a": 1], ["b": 2], ["a": 3, "b": 4]]]]
        #expect(
            try edited(body, .rename("a", to: "c", in: .launch, at: "launch.wakes.*"))
                == ["launch": ["wakes": [["c": 1], ["b": 2], ["b": 4, "c": 3]]]]
        )
        let entry: Value = ["entry": ["wake": ["_0": ["at": 1]]]]
        #expect(
            try edited(entry, .rename("wake", to: "run", in: .line, at: "entry"))
                == ["entry": ["run": ["_0": ["at": 1]]]]
        )
    }

    @Test func `what is not there, or is something else, stays as it is`() throws {
        for body: Value in [[:], ["a": [:]], ["a": ["b": 1]], ["a": [1, "x"]], ["a": .null], [1]] {
            #expect(
                try edited(
                    body,
                    .rename("x", to: "y", in: .app, at: "a.b.*"),
                    .remove("x", in: .app, at: "a.b"),
                    .respell("x", as: "y", in: .app, at: "a.b"),
                    .move(["x"], into: "y", in: .app, at: "a.b"),
                    .add("x", 1, in: .app, at: "a.c.*")
                ) == body
            )
        }
    }

    @Test func `a name that is taken is never overwritten`() {
        #expect(throws: ValueError(.duplicateKey, path: "b", "is there already")) {
            try edited(["a": 1, "b": 2], .rename("a", to: "b", in: .app))
        }
        #expect(throws: ValueError.self) {
            try edited(["a": 1, "b": ["a": 2]], .move(["a"], into: "b", in: .app))
        }
    }

    @Test func `a field becomes the only one of a list`() throws {
        let edit = BodyEdit.enlist("from", in: .transfer, at: "it", as: "places")
        #expect(try edited(["it": ["from": "a"]], edit) == ["it": ["places": ["a"]]])
        #expect(try edited(["it": [:]], edit) == ["it": [:]])
        #expect(throws: ValueError.self) { try edited(["it": ["from": 1, "places": []]], edit) }
    }

    @Test func `fields go, come, and are put together`() throws {
        let body: Value = ["at": 1, "until": 2, "name": "x"]
        #expect(try edited(body, .remove("name", in: .app)) == ["at": 1, "until": 2])
        #expect(try edited(body, .add("more", [], in: .app))["more"] == [])
        #expect(try edited(body, .add("at", 9, in: .app)) == body)
        #expect(
            try edited(body, .move(["at", "until", "since"], into: "pause", in: .app))
                == ["name": "x", "pause": ["at": 1, "until": 2]]
        )
        #expect(
            try edited(["name": "x"], .move(["at"], into: "pause", in: .app)) == ["name": "x"]
        )
    }

    @Test func `a word is respelled, and anything else is done by hand`() throws {
        let body: Value = ["kinds": ["purse", "other"], "count": 3]
        #expect(
            try edited(
                body,
                .respell("purse", as: "budget", in: .app, at: "kinds.*"),
                BodyEdit(in: .app, at: "count") { (value) throws(ValueError) in
                    guard let count = value.integerValue else {
                        throw ValueError(.mismatch, "no count")
                    }
                    value = .integer(count * 1000)
                }
            ) == ["kinds": ["budget", "other"], "count": 3000]
        )
    }
}
