extension LinuxError {
    /// Why a program could not be started, to help.
    package func explanation(starting program: String?, in directory: String?) -> String {
        let program = program ?? "the program"
        switch (operation, errno) {
        case ("execve", .noEntry):
            let isWhole = program.hasPrefix("/")
            let path = isWhole ? program : (directory ?? ".") + "/" + program
            // There, but what its first line names is not.
            if program.contains("/"), Files.exists(path) {
                return "the interpreter of \(program) is not installed"
            }
            if program.contains(" ") {
                return "\"\(program)\" is one word, and no program has that name: leave the quotes "
                    + "out, or use sh -c"
            }
            if program.contains("/") {
                return isWhole
                    ? "\(program) is not there"
                    : "there is no file \(program) in \(directory ?? "its directory")"
            }
            return "\(program) is not installed, or not in PATH"
        case ("execve", .access):
            return Files.status(program)?.kind == .directory
                ? "\(program) is a directory" : "\(program) is not executable"
        case ("execve", .badFormat): return "\(program) is not a program that this machine can run"
        case ("chdir", .noEntry): return "its directory is not there: \(directory ?? "")"
        default: return description
        }
    }
}
