import Glibc
import WakeShell

@main
enum Main {
    static func main() { exit(WakeProgram.main(Array(CommandLine.arguments.dropFirst()))) }
}
