import ExchangeCore
import TLS
import Vocabulary

extension DigestChallenge {
    static let digits: DigestFunction = { hash, text in
        switch hash {
        case .md5: MessageDigest.digits(.md5, text)
        case .sha256: MessageDigest.digits(.sha256, text)
        }
    }
}
