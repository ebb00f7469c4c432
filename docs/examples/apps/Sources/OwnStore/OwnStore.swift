// 7c: the cookies in a file of one's own, without SQLite and encryption.
import AppSupport
import CookieModel
import Foundation
import WebPrimitives

@main
struct OwnStore {
    static func main() throws {
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        let file = URL(filePath: "cookies.json")
        var store = CookieStore()
        store.receive("sid=1; Path=/; Secure; HttpOnly; SameSite=Lax", in: context, now: .now)
        store.receive("theme=dark; Secure; Max-Age=86400", in: context, now: .now)
        try JSONEncoder().encode(store.cookies).write(to: file, options: .atomic)

        // Another run of the program.
        var kept = CookieStore(try JSONDecoder().decode([Cookie].self, from: Data(contentsOf: file)))
        expect(kept, store, "nothing is lost")
        kept.removeAll { $0.name == "theme" }
        expect(kept.cookieString(for: context, now: .now), "sid=1", "the session is kept, and the rest removed")
    }
}
