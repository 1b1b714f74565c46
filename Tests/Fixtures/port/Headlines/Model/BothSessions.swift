import UIKit  // expect: import UIKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let both = URLSession.shared  // expect: URLSession | URLSession.shared
