extension LinuxError {
    /// Why a program could not be started, to help.
    package func explanation(starting program: String?, in directory: String?) -> String {
        let program = program ?? "the program"
        switch (operation, errno) {
        case ("execve", .noEntry):
            guard program.hasPrefix("/") else {
                return "\(program) is not installed, or not in PATH"
            }
            // There, but what its first line names is not.
            return Files.exists(program)
                ? "the interpreter of \(program) is not installed" : "\(program) is not there"
        case ("execve", .access):
            return Files.status(program)?.kind == .directory
                ? "\(program) is a directory" : "\(program) is not executable"
        case ("execve", .badFormat): return "\(program) is not a program that this machine can run"
        case ("chdir", .noEntry): return "its directory is not there: \(directory ?? "")"
        default: return description
        }
    }
}
