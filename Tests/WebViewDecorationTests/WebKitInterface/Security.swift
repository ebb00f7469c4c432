// swift-format-ignore-file
// What the adapter uses of Apple's Security framework, as its interface declares it: for a compiler, not for running.
public import Foundation

#if !canImport(ObjectiveC)
    public typealias CFArray = [SecCertificate]
    public typealias CFData = Data
#endif

public final class SecTrust {}
public final class SecCertificate {}
public func SecCertificateCreateWithData(_ allocator: Never?, _ data: CFData) -> SecCertificate? { nil }
@discardableResult public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> Int32 { 0 }
@discardableResult public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> Int32 { 0 }
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<AnyObject?>?) -> Bool { false }
