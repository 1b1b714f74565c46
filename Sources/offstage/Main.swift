import Commands
import Glibc

@main enum Main {
    static func main() { exit(OffstageProgram.main(Array(CommandLine.arguments.dropFirst()))) }
}
