#if canImport(WebKit)
    import Foundation
    import CookieModel
    import HTTPTypes
    import RequestDecoration
    public import WebKit

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Passes the requests of a web view for its own schemes to a ``ResourceHandler``.
    @MainActor
    final class WebKitResourceHandler: NSObject, WKURLSchemeHandler {
        private let handler: ResourceHandler
        private var running: [ObjectIdentifier: Task<Void, Never>] = [:]

        /// Creates the handler of one web view.
        init(_ handler: ResourceHandler) {
            self.handler = handler
        }

        /// Begins to answer a request.
        func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask) {
            let id = ObjectIdentifier(urlSchemeTask)
            let url = urlSchemeTask.request.url
            let request = ResourceRequest(urlSchemeTask.request, in: webView)
            running[id] = Task { [handler, weak self] in
                do {
                    let response = try await handler.response(to: request)
                    guard self?.isRunning(id) == true else { return }
                    guard let head = url.flatMap(response.head.urlResponse) else { throw ResourceRefusal(.url) }
                    urlSchemeTask.didReceive(head)
                    for try await piece in response.body {
                        guard self?.isRunning(id) == true else { return }
                        urlSchemeTask.didReceive(Data(piece))
                    }
                    guard self?.end(id) == true else { return }
                    urlSchemeTask.didFinish()
                } catch {
                    guard self?.end(id) == true else { return }
                    urlSchemeTask.didFailWithError(error)
                }
            }
        }

        /// Cancels a request. WebKit forbids every later call of the task.
        func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask) {
            running.removeValue(forKey: ObjectIdentifier(urlSchemeTask))?.cancel()
        }

        private func isRunning(_ id: ObjectIdentifier) -> Bool { running[id] != nil }

        /// Whether the task was running until now.
        private func end(_ id: ObjectIdentifier) -> Bool { running.removeValue(forKey: id) != nil }
    }

    extension WKWebViewConfiguration {
        /// Lets the web view with this configuration load resources through a handler. A ``WebViewSession`` with the same
        /// ``WebViewSession/resources`` installs the script.
        public func use(_ handler: ResourceHandler) {
            let adapter = WebKitResourceHandler(handler)
            for name in handler.script.scheme.names { setURLSchemeHandler(adapter, forURLScheme: name) }
        }
    }

    extension ResourceRequest {
        /// The request as WebKit passes it.
        @MainActor
        init(_ request: URLRequest, in webView: WKWebView) {
            var fields = HTTPFields()
            for (name, value) in request.allHTTPHeaderFields ?? [:] {
                if let name = HTTPField.Name(name) { fields[name] = value }
            }
            let page = request.mainDocumentURL ?? webView.url
            self.init(
                url: request.url?.absoluteString ?? "", method: request.httpMethod ?? "GET", fields: fields,
                page: page.flatMap { try? RequestURL($0.absoluteString) })
        }
    }

    extension HTTPResponse {
        /// The head for Foundation, which has one text for each name.
        fileprivate func urlResponse(to url: URL) -> HTTPURLResponse? {
            var fields: [String: String] = [:]
            for field in headerFields {
                fields[field.name.rawName, default: ""] += (fields[field.name.rawName] == nil ? "" : ", ") + field.value
            }
            return HTTPURLResponse(
                url: url, statusCode: status.code, httpVersion: "HTTP/1.1", headerFields: fields)
        }
    }
#endif
