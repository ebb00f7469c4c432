import CookieModel
import SessionStore

let now = Timestamp.now
let database = try SessionDatabase(path: "app.sqlite", keys: .file("app.key"), now: now)
let jar = try database.jar(now: now)

// A response arrived: store the cookies that it sets.
let request = RequestContext(url: try RequestURL("https://example.com/login"))
try jar.receive(ReceivedResponse(context: request, setCookie: ["sid=31d4; Path=/; Secure; HttpOnly"]), now: now)

// A request goes out: get the cookies that it carries.
let retrieval = try jar.retrieve(for: RequestContext(url: try RequestURL("https://example.com/")), now: now)
print("Cookie: \(retrieval.cookieString)")
