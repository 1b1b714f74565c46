import Linux
import Simulator
import TestKit
import Testing
import Zlib

struct MadeUpUsageTests {
    /// `OFFSTAGE_WRITE_DOCUMENTS=1` writes it anew; then the numbers of `Reference.madeUp` are
    /// what `usage_baselines.py` computes of it.
    @Test func theMadeUpLogIsWhatItsMakerMakes() throws {
        let text = Array(MadeUpUsage.text.utf8)
        if Document.areWritten {
            let packed = try ScratchDirectory().compressed(text)
            try Files.replace(EvaluationTests.log, with: packed.span, permissions: 0o644)
        }
        let packed = try Files.read(EvaluationTests.log)
        #expect(try Gzip.decompress(packed, limit: 1 << 20) == text)
    }
}
