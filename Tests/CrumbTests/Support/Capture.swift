import Foundation

/// Captures as tools write them.
enum Capture {
    /// A raw response.
    static func dump(_ setCookie: [String], status: Int = 200) -> String {
        "HTTP/1.1 \(status) Status\r\n" + setCookie.map { "Set-Cookie: \($0)\r\n" }.joined() + "\r\n"
    }

    /// An entry of a HAR.
    static func entry(_ url: String, _ setCookie: [String], status: Int = 200) -> String {
        let headers = setCookie.map { line in
            #"{"name": "set-cookie", "value": \#(json(line))}"#
        }
        return """
            {"request": {"method": "GET", "url": \(json(url))}, "response": {"status": \(status), "headers": [\
            \(headers.joined(separator: ", "))], "content": {}}}
            """
    }

    /// A HAR from its entries.
    static func har(_ entries: [String]) -> String {
        #"{"log": {"version": "1.2", "entries": [\#n\#(entries.joined(separator: ",\n"))\#n]}}\#n"#
    }

    /// A HAR with an entry for each of so many cookies of one host.
    static func har(cookies count: Int, named prefix: String, host: String = "many.example", size: Int = 20) -> String {
        har(
            (0..<count).map { number in
                let value = String(repeating: "v", count: size)
                return entry("https://\(host)/", ["\(prefix)\(number)=\(value); Path=/; Max-Age=100000"])
            })
    }

    private static func json(_ text: String) -> String {
        (try? String(decoding: JSONEncoder().encode(text), as: UTF8.self)) ?? "\"\""
    }
}
