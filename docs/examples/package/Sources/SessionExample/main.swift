import CookieModel
import SessionStore

let database = try SessionDatabase(path: "app.sqlite", keys: .file("app.key"))
let jar = try database.jar()

// A response arrived: store the cookies that it sets.
let request = RequestContext(url: try RequestURL("https://example.com/login"))
try jar.receive(ReceivedResponse(context: request, setCookie: ["sid=31d4; Path=/; Secure; HttpOnly"]))

// A request goes out: get the cookies that it carries.
let retrieval = try jar.retrieve(for: RequestContext(url: try RequestURL("https://example.com/")))
print("Cookie: \(retrieval.cookieString)")
