import ExchangeCore
import TLS
import Vocabulary

enum Digests {
    static let openSSL: DigestFunction = { hash, text in
        switch hash {
        case .md5: MessageDigest.digits(.md5, text)
        case .sha256: MessageDigest.digits(.sha256, text)
        }
    }
}

extension Exchange {
    init(_ order: ExchangeOrder) { self.init(order, digits: Digests.openSSL) }
}

extension UploadExchange {
    init(_ order: UploadOrder) { self.init(order, digits: Digests.openSSL) }
}
