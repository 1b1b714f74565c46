import Curl
import Testing

struct CurlOptionTests {
    private func options(_ rate: Int64) -> CurlRequest.Options {
        var options = CurlRequest.Options(url: "http://localhost/")
        options.rateLimit = rate
        return options
    }

    /// Between two looks at the rate, libcurl 7.88 reads up to 100 times, and sends once.
    @Test(arguments: [10_000, 204_800, 1_048_576, 20_000_000, 200_000_000] as [Int64])
    func `no more than half a second's worth comes before the rate is looked at`(rate: Int64) {
        let most = max(rate / 2, 100 << 10)
        #expect(Int64(options(rate).receivedAtOnce) * 100 <= most)
        #expect(Int64(options(rate).sentAtOnce) <= max(most / 100, 16 << 10))
    }

    @Test(arguments: [0, 104_857_600, .max] as [Int64])
    func `who has no limit, or a high one, does not pay for it`(rate: Int64) {
        #expect(options(rate).receivedAtOnce == 512 << 10)
        #expect(options(rate).sentAtOnce == 512 << 10)
    }

    @Test func `no buffer is smaller than libcurl takes`() {
        #expect(options(1).receivedAtOnce == 1 << 10 && options(1).sentAtOnce == 16 << 10)
    }
}
