import GatewayShell
import Glibc

@main
enum Main {
    static func main() { exit(GatewayProgram.main(Array(CommandLine.arguments.dropFirst()))) }
}
