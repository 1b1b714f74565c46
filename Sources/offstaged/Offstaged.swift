import DeviceShell
import Glibc

@main
enum Main {
    static func main() { exit(DaemonProgram.main(Array(CommandLine.arguments.dropFirst()))) }
}
