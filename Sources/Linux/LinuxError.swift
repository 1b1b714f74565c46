internal import CLinux
internal import Glibc

/// A system call that failed: what was tried, on what, and the system's answer.
package struct LinuxError: Error, Equatable, Sendable {
    /// The call or the step, as in its manual page: `open`, `mkdir`, `execve`.
    package var operation: String
    /// The path, process or descriptor it was about; may be empty.
    package var subject: String
    package var errno: Errno

    package init(_ operation: String, _ subject: String = "", _ errno: Errno) {
        (self.operation, self.subject, self.errno) = (operation, subject, errno)
    }
}

extension LinuxError: CustomStringConvertible {
    /// `open /etc/shadow: Permission denied`.
    package var description: String {
        subject.isEmpty
            ? "\(operation): \(errno.text)" : "\(operation) \(subject): \(errno.text)"
    }
}

/// An error number of the system.
package struct Errno: Equatable, Hashable, Sendable {
    package var number: Int32

    package init(_ number: Int32) { self.number = number }

    /// The system's own words.
    package var text: String {
        switch self {
        case .noSuchHost: return "there is no host of that name"
        case .noNameService: return "no name server answers"
        case _: break
        }
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe strerror_r(number, &buffer, buffer.count) == 0 else {
            return "error \(number)"
        }
        return String(nullTerminated: buffer)
    }

    package static let noEntry = Errno(ENOENT)
    package static let otherFileSystem = Errno(EXDEV)
    package static let stale = Errno(ESTALE)
    package static let notConnected = Errno(ENOTCONN)
    package static let timedOut = Errno(ETIMEDOUT)
    package static let noProcess = Errno(ESRCH)
    package static let exists = Errno(EEXIST)
    package static let busy = Errno(EBUSY)
    package static let permission = Errno(EPERM)
    package static let access = Errno(EACCES)
    package static let again = Errno(EAGAIN)
    package static let noMemory = Errno(ENOMEM)
    package static let interrupted = Errno(EINTR)
    package static let invalid = Errno(EINVAL)
    package static let nameTooLong = Errno(ENAMETOOLONG)
    package static let tooLarge = Errno(EFBIG)
    package static let notDirectory = Errno(ENOTDIR)
    package static let isDirectory = Errno(EISDIR)
    package static let badFormat = Errno(ENOEXEC)
    package static let noSpace = Errno(ENOSPC)
    package static let quota = Errno(EDQUOT)
    package static let readOnly = Errno(EROFS)
    package static let pipe = Errno(EPIPE)
    package static let notSupported = Errno(EOPNOTSUPP)
    package static let noSystemCall = Errno(ENOSYS)
    package static let canceled = Errno(ECANCELED)
    package static let refused = Errno(ECONNREFUSED)
    package static let addressInUse = Errno(EADDRINUSE)
    package static let addressNotAvailable = Errno(EADDRNOTAVAIL)
    /// Of a lookup of a name, which has no numbers of the system.
    package static let noSuchHost = Errno(CLINUX_NO_SUCH_HOST)
    package static let noNameService = Errno(CLINUX_NO_NAME_SERVICE)
    package static let noDevice = Errno(ENODEV)
    package static let noChild = Errno(ECHILD)
    package static let inputOutput = Errno(EIO)
    package static let loop = Errno(ELOOP)
    package static let noDeviceOrAddress = Errno(ENXIO)
    package static let tooManyFiles = Errno(EMFILE)
    package static let tooManyFilesInSystem = Errno(ENFILE)
}

extension String {
    /// The text before the first zero, ill-formed bytes replaced.
    init(nullTerminated characters: [CChar]) {
        let bytes = characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        self = String(decoding: bytes, as: UTF8.self)
    }
}

/// Passes on what a call returned, or throws when it was negative.
@discardableResult
func check<Number: SignedInteger>(
    _ result: Number,
    _ operation: String,
    _ subject: @autoclosure () -> String = ""
) throws(LinuxError) -> Number {
    guard result < 0 else { return result }
    let number = errno
    throw LinuxError(operation, subject(), Errno(number))
}

/// The same, calling again when a signal came between.
@discardableResult
func checkAgain<Number: SignedInteger>(
    _ operation: String,
    _ subject: @autoclosure () -> String = "",
    _ call: () -> Number
) throws(LinuxError) -> Number {
    while true {
        let result = call()
        guard result < 0 else { return result }
        let number = errno
        if number != EINTR { throw LinuxError(operation, subject(), Errno(number)) }
    }
}

extension Errno {
    /// There is no room, or none for this user.
    package var isDiskFull: Bool { [.noSpace, .quota].contains(self) }

    /// This process, or the machine, lacks memory or descriptors.
    package var isShortage: Bool {
        [.noMemory, .tooManyFiles, .tooManyFilesInSystem].contains(self)
    }
}
