internal import CNSObject
internal import Foundation

extension NSObjectProtocol where Self: NSObject {
    /// An object of a class that only the app knows, made by its `init()`.
    static func make() -> Self {
        let type = unsafe unsafeBitCast(self, to: UnsafeRawPointer.self)
        guard let object = unsafe offstage_make_object(type) else {
            preconditionFailure("an init() that cannot fail made nothing")
        }
        return unsafe Unmanaged<Self>.fromOpaque(object).takeRetainedValue()
    }
}
