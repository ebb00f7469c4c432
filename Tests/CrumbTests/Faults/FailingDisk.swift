import Foundation
import TestSupport
import Testing

/// A library that has the Nth change to files below a folder fail, loaded before the C library: `FailingDisk.c`.
struct FailingDisk {
    /// What becomes of the Nth change.
    enum Fault: CaseIterable, CustomTestStringConvertible {
        /// It fails with EIO; whatever comes next works.
        case failsOnce
        /// From it on there is no room.
        case staysFull
        /// The process dies in it, after half of what it writes.
        case kills

        fileprivate var variables: [String: String] {
            switch self {
            case .failsOnce: ["FAULT_ERROR": "\(EIO)"]
            case .staysFull: ["FAULT_ERROR": "\(ENOSPC)", "FAULT_STAYS": "1"]
            case .kills: ["FAULT_ERROR": "0"]
            }
        }

        var testDescription: String { "\(self)" }
    }

    private static let source = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "FailingDisk.c").path

    /// The library, compiled; `nil` where there is no compiler, or the system knows no such libraries.
    static let library: FailingDisk? = {
        #if os(Linux)
            let home = CrumbHome()
            let arguments = ["-shared", "-fPIC", "-O1", "-o", home.file("FailingDisk.so"), source, "-ldl"]
            let compiler = try? RunningProcess("cc", arguments, environment: home.environment, scratch: home.path)
            return compiler?.wait().status == 0 ? FailingDisk(home: home) : nil
        #else
            return nil
        #endif
    }()

    /// Keeps the library's folder.
    private let home: CrumbHome

    /// The environment in which change number `count` below `folder` fails; the file `mark` is there once it did.
    func variables(_ fault: Fault, at count: Int, below folder: String, mark: String) -> [String: String?] {
        let place: [String: String] = [
            "LD_PRELOAD": home.file("FailingDisk.so"), "FAULT_FOLDER": "\(folder)/", "FAULT_AT": "\(count)",
            "FAULT_MARK": mark,
        ]
        return place.merging(fault.variables) { $1 }
    }
}
