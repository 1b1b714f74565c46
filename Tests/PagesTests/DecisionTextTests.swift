import Pages
import Testing
import Vocabulary

/// The words about a refresh that was decided.
struct DecisionTextTests {
    @Test(arguments: [
        ("chance", ""), ("deviceAwake", ", because the device was awake"),
        ("sharedWake", ", because another app woke the device"),
        ("turn", ", because it had got no refresh for a long time"), ("later", " (later)"),
    ])
    func whyARefreshBeganThenIsTold(_ because: String, _ words: String) {
        var decision = Report.Decision {
            ($0.chance, $0.price, $0.left, $0.budget) = (0.094, 0.05, 3, 4)
            $0.because = Word(text: because)
        }
        let start = "9.4 % likely to be opened within half an hour; a refresh was worth it "
        #expect(decision.text == "\(start)from 5.0 %\(words); 3 of 4 left")
        decision.price = 0
        #expect(decision.text == "\(start)at any chance\(words); 3 of 4 left")
    }
}
