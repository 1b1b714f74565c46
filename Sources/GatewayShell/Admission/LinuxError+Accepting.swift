import Linux

extension LinuxError {
    /// Nobody else can be accepted either, until descriptors are free.
    var isLackOfDescriptors: Bool {
        [.tooManyFiles, .tooManyFilesInSystem].contains(errno)
    }
}
