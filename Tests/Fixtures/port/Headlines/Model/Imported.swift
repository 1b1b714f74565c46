import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
import FoundationXML
#endif

final class Imported: NSObject, XMLParserDelegate {
    let cache = URLCache.shared
    let parser = XMLParser(data: Data())
}
