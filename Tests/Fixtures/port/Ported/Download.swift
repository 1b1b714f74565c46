import Foundation
import FoundationNetworking

func download(_ address: URL) async throws -> Data {
    try await URLSession.shared.data(from: address).0
}
