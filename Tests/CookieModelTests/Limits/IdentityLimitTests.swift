import Testing

@testable import CookieModel

@Suite("The length of what identifies a cookie")
struct IdentityLimitTests {
    /// `example.com` twice, and what is given.
    @Test(
        "Is limited by a policy that has a limit, for lines and records",
        arguments: [
            ("a", "/", true), ("a", "/b", true), ("ab", "/b", false), ("a", "/bc", false),
        ] as [(Octets, Octets, Bool)])
    func limit(name: Octets, path: Octets, isStored: Bool) throws {
        var policy = CookiePolicy()
        policy.identityLimit = 2 * 11 + 3
        var session = Session(policy)
        let outcome = isStored ? "stored" : "rejected: identity-too-long"
        #expect(try session.set(Octets("\(name)=1; Path=\(path)")) == outcome)
        var other = CookieStore(policy: policy)
        let record = CookieRecord(name: name, value: "1", domain: "example.com", isHostOnly: true, path: path)
        #expect(other.receive(record, now: Session.start).reasons == (isStored ? [] : [.identityTooLong]))
        var unlimited = Session()
        #expect(try unlimited.set(Octets("\(name)=1; Path=\(path)")) == "stored")
    }

    @Test("Counts the partition, and not the value")
    func parts() throws {
        let key = PartitionKey(topLevelSite: "https://a.test", hasCrossSiteAncestor: false)
        let domain = try #require(WebHost("example.com"))
        let id = Cookie.ID(name: "ab", domain: domain, isHostOnly: true, path: "/", partitionKey: key)
        #expect(id.octetCount == 2 + 1 + 2 * 11 + 14)
    }
}
