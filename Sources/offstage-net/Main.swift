import Glibc
import NetworkShell

@main
enum Main {
    static func main() { exit(NetworkProgram.main(Array(CommandLine.arguments.dropFirst()))) }
}
