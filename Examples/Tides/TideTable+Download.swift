import Foundation
import FoundationNetworking

extension TideTable {
    nonisolated static func download() async throws -> Data {
        let address = URL(string: "https://tides.example/today.txt")!
        return try await URLSession.shared.data(from: address).0
    }
}
