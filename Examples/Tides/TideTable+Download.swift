import Foundation
import FoundationNetworking

extension TideTable {
    nonisolated static func download(_ address: URL) async throws -> Data {
        try await URLSession.shared.data(from: address).0
    }
}
