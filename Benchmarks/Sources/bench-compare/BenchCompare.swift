import Foundation

/// Runs the drivers in turns and prints what they took, with ratios.
@main
enum BenchCompare {
    static func main() {
        do {
            let settings = try Settings(Array(CommandLine.arguments.dropFirst()))
            for peer in Peer.allCases where !settings.peers.contains(peer) {
                say("\(peer.rawValue) is not there and is left out")
            }
            var figures = Figures()
            for plan in settings.plans {
                guard plan.subject != "allocations" || settings.countsAllocations else {
                    say("allocations cannot be counted here and are left out")
                    continue
                }
                for size in settings.jarSizes(plan) {
                    say(plan.title(size))
                    let contest = Contest(plan: plan, size: size, settings: settings)
                    figures.add(try contest.play(), contest)
                }
            }
            let report = Report(figures: figures, settings: settings)
            print(settings.writesJSON ? report.json : report.table)
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    private static func say(_ text: String) {
        FileHandle.standardError.write(Data("bench-compare: \(text)\n".utf8))
    }
}
