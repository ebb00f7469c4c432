// 7: the rules alone: no file, no other package.
import AppSupport
import CookieModel
import WebPrimitives

@main
struct Rules {
    static func main() throws {
        let context = RequestContext(url: try RequestURL("https://www.example.com/login"))
        var store = CookieStore()
        let line = "sid=1; Path=/; Secure; HttpOnly"
        store.receive(line, in: context, now: .now)
        expect(store.cookieString(for: context, now: .now), "sid=1", "the next request carries the cookie")
    }
}
