import Testing
import Vocabulary

@testable import Simulator

/// What the rules know of the world.
struct GroundsTests {
    @Test func `an app that its user has open is used, and its last opening does not matter`() {
        let stage = Stage([Stage.app()])
        _ = stage.open()
        stage.pass(.days(8))
        // It has heard of no opening.
        let grounds = Grounds()
        #expect(grounds.isUsed(AppID("app"), stage.world))
        stage.leave()
        #expect(!grounds.isUsed(AppID("app"), stage.world))
    }
}
