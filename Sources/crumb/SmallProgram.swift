import CrumbCommands

/// The program `crumb`.
@main
enum SmallProgram {
    static func main() {
        CrumbProgram.main()
    }
}
