import HTTPTypes
import Hummingbird

/// Which paths there are, and the methods that each is asked for by.
struct RouteTable: Sendable {
    private let paths: [(segments: [Substring], methods: Set<HTTPRequest.Method>)]

    /// The table of some routes, and of paths that are read.
    init(_ routes: [ServiceRoute], readable: [String] = []) {
        var methods = Dictionary(grouping: routes, by: \.path).mapValues { Set($0.map(\.method)) }
        for path in readable { methods[path, default: []].insert(.get) }
        paths = methods.map { path, methods in
            (path.split(separator: "/"), methods.contains(.get) ? methods.union([.head]) : methods)
        }
    }

    /// The methods that a path is asked for by; empty where there is no such path.
    func methods(of path: String) -> Set<HTTPRequest.Method> {
        let segments = path.split(separator: "/")
        return paths.reduce(into: []) { methods, entry in
            guard entry.segments.count == segments.count,
                zip(entry.segments, segments).allSatisfy({ $0.first == "{" || $0 == $1 })
            else { return }
            methods.formUnion(entry.methods)
        }
    }
}
