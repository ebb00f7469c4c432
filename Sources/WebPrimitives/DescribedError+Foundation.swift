#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An error whose sentence apps show as it is: `localizedDescription` is its `description`.
public protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    /// The error's `description`.
    public var errorDescription: String? { description }
    /// `nil`: the sentence contains the reason.
    public var failureReason: String? { nil }
    /// `nil`: the sentence contains the next step.
    public var recoverySuggestion: String? { nil }
    /// `nil`: there is no page of help.
    public var helpAnchor: String? { nil }
}
