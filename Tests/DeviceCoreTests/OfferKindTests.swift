import DeviceCore
import Testing
import Vocabulary

/// The word that tells an app which of its handlers is meant.
struct OfferKindTests {
    @Test func `each trigger has its own, and the first API has one more`() throws {
        let kinds = [Offer.Kind.fetch] + Trigger.allCases.map { Offer.Kind.trigger($0) }
        #expect(Set(kinds.map(\.rawValue)).count == kinds.count)
        for kind in kinds {
            #expect(Offer.Kind(rawValue: kind.rawValue) == kind)
            // As event logs have it.
            let value = try ValueEncoder().encode(kind)
            #expect(value == .string(kind.rawValue))
            #expect(try ValueDecoder().decode(Offer.Kind.self, from: value) == kind)
        }
        #expect(Offer.Kind(rawValue: "later") == nil)
    }

    @Test func `the library knows those that it has handlers for`() {
        for kind in WorkKind.allCases { #expect(Offer.Kind(rawValue: kind.rawValue) != nil) }
    }
}
