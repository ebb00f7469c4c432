import HTTPTypes
import Hummingbird

extension SessionAPI {
    var documentRoutes: [ServiceRoute] {
        [
            ServiceRoute(.get, "/v1/openapi.json", .caller) { _, _ in
                .json(text: PackageResources.openapi_json)
            }
        ]
    }
}
