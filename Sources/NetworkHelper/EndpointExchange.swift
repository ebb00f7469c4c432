import HTTPTypes
package import OAuth2

extension HelperMessage where Head == HelperAnswer {
    /// What the authorization server answered to `request`.
    ///
    /// - Throws: that nobody has answered, and why.
    package func response(to request: EndpointRequest) throws(OAuth2Error) -> EndpointResponse {
        switch head {
        case .failure(let reason): throw OAuth2Error(unreachable: "\(request.endpoint.authority): \(reason)")
        case .settingsInvalid(let reason): throw OAuth2Error(unusableSettings: reason)
        case .response(let status, let fields):
            var response = EndpointResponse(
                status: HTTPResponse.Status(code: status),
                fields: HTTPFields(
                    fields.compactMap { field in
                        HTTPField.Name(field.name).map { HTTPField(name: $0, value: field.value) }
                    }),
                body: body)
            response.endpoint = request.endpoint
            return response
        }
    }
}
