import CookieModel
import RequestDecoration
import SessionOperations

/// The header fields that a running service keeps with a jar.
extension ServedJar {
    func headerFields(showingValues: Bool) throws -> [HeaderFieldReport] {
        let query: [(name: String, value: String?)] = [("values", showingValues ? "true" : nil)]
        return try answer(.get("jars", name, "header-fields", query: query), as: HeaderFieldList.self)?.fields ?? []
    }

    func setHeaderField(_ rule: FieldRule) throws -> HeaderFieldReport {
        struct Document: Encodable {
            let scope: String?
            let valueBase64: String
        }
        return try answerMakingJar(
            .put(
                "jars", name, "header-fields", rule.name,
                document: Document(scope: rule.scope?.description, valueBase64: rule.value.base64)))
    }

    func removeHeaderField(named field: String, scope: URLScope?) throws -> HeaderFieldReport? {
        // No name is a path of its own, and no field has none.
        guard !field.isEmpty else { return nil }
        do {
            return try answer(
                .delete("jars", name, "header-fields", field, query: [("scope", scope?.description)]))
        } catch let refusal as ServiceRefusal where refusal.code == FailureKind.fieldNotFound.code {
            return nil
        }
    }
}

/// The web storage that a running service keeps with a jar.
extension ServedJar {
    func webStorage(ofOrigin origin: String?, showingValues: Bool) throws -> WebStorageList {
        let query: [(name: String, value: String?)] = [("origin", origin), ("values", showingValues ? "true" : nil)]
        return try answer(.get("jars", name, "storage", query: query)) ?? WebStorageList(origins: [])
    }

    func removeWebStorage(ofOrigin origin: String?, key: String?) throws -> WebStorageRemoval {
        try answer(.delete("jars", name, "storage", query: [("origin", origin), ("key", key)]))
            ?? WebStorageRemoval(jar: name, removed: 0)
    }
}
