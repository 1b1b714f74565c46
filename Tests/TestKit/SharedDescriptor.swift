package import Linux

/// A descriptor that can stand in an array.
package final class SharedDescriptor: Sendable {
    package let descriptor: FileDescriptor
    package init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}
