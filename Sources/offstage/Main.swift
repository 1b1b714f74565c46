import Commands
import Glibc

@main enum Main {
    static func main() {
        let program = CommandLineProgram(console: .standard())
        exit(program.run(Array(CommandLine.arguments.dropFirst())))
    }
}
