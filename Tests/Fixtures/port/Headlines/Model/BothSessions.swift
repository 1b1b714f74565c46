import UIKit  // expect: import UIKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let both = URLSession.shared  // expect: URLSession.shared
let theirs = FoundationNetworking.URLSession.shared
let also = FoundationNetworking.URLSession(configuration: .default)
let own = Offstage.URLRequest(url: page)  // expect: URLRequest
