import LinkProperties
import Wire

/// What libFuzzer calls with each input.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    if let broken = LinkProperties.broken(bytes, as: GatewayFrame.self) { fatalError(broken) }
    return 0
}
