public import SessionWire

extension SessionRequest where Answer == JarList {
    /// A page of the jars that the caller can see.
    public static func jars(limit: Int? = nil, cursor: String? = nil) -> Self {
        Self(.listJars, query: [("limit", limit.map(String.init)), ("cursor", cursor)])
    }
}

extension SessionRequest where Answer == SiteList {
    /// A page of the sites of the jars that the caller can see, or of one jar.
    package static func sites(of jar: String? = nil, limit: Int? = nil, cursor: String? = nil) -> Self {
        Self(.listSites, query: [("jar", jar), ("limit", limit.map(String.init)), ("cursor", cursor)])
    }
}

extension SessionRequest where Answer == JarSettingsReport {
    /// Creates a jar. The document needs a name.
    package static func createJar(_ document: JarSettingsDocument) -> Self {
        Self(.createJar, document: document)
    }

    /// Creates a jar if it does not exist, and changes the settings in the document.
    public static func putJar(_ jar: String, _ document: JarSettingsDocument = JarSettingsDocument()) -> Self {
        Self(.putJar, jar, document: document)
    }

    /// Changes the settings in the document.
    package static func changeSettings(of jar: String, _ document: JarSettingsDocument) -> Self {
        Self(.changeJar, jar, document: document)
    }
}

extension SessionRequest where Answer == JarReport {
    /// A jar, with the numbers of its cookies.
    public static func jar(_ jar: String) -> Self {
        Self(.getJar, jar)
    }
}

extension SessionRequest where Answer == JarRemovalReport {
    /// Removes a jar with its cookies and saved sessions. For a day, it can be restored.
    ///
    /// - Parameter isFinal: whether it is removed for good at once.
    public static func removeJar(_ jar: String, isFinal: Bool = false) -> Self {
        Self(.removeJar, jar, query: [("final", isFinal ? "true" : nil)])
    }
}

extension SessionRequest where Answer == RemovedJarList {
    /// The removed jars, and the states of jars before they were cleared or merged into, that can be restored.
    package static func removedJars() -> Self {
        Self(.listRemovedJars)
    }
}

extension SessionRequest where Answer == RemovedJarReport {
    /// Restores a removed jar, or the state of a jar before it was cleared or merged into.
    package static func restoreJar(_ jar: String, _ document: JarRestorationDocument = JarRestorationDocument()) -> Self
    {
        Self(.restoreJar, jar, document: document)
    }
}

extension SessionRequest where Answer == JarClearReport {
    /// Removes every cookie and item of a jar.
    public static func clearJar(_ jar: String) -> Self {
        Self(.clearJar, jar)
    }
}

extension SessionRequest where Answer == JarRenameReport {
    /// Renames a jar.
    package static func renameJar(_ jar: String, to name: String) -> Self {
        Self(.renameJar, jar, document: JarTargetDocument(to: name))
    }
}

extension SessionRequest where Answer == JarCopyReport {
    /// Copies the cookies of a jar into a new jar.
    package static func copyJar(_ jar: String, to name: String) -> Self {
        Self(.copyJar, jar, document: JarTargetDocument(to: name))
    }
}

extension SessionRequest where Answer == JarMergeReport {
    /// Merges the cookies of a jar into another jar.
    package static func mergeJar(_ jar: String, into target: String) -> Self {
        Self(.mergeJar, jar, document: JarTargetDocument(to: target))
    }
}

extension SessionRequest where Answer == PruneReport {
    /// Removes the expired cookies of one jar.
    package static func prune(_ document: PruneDocument = PruneDocument(), jar: String) -> Self {
        Self(.pruneJar, jar, document: document)
    }

    /// Removes the expired cookies of all jars.
    package static func pruneAll(_ document: PruneDocument = PruneDocument()) -> Self {
        Self(.prune, document: document)
    }
}

extension SessionRequest where Answer == SavedSessionList {
    /// The saved sessions of a jar.
    package static func savedSessions(of jar: String) -> Self {
        Self(.listSnapshots, jar)
    }
}

extension SessionRequest where Answer == SessionSaveReport {
    /// Saves the cookies of a jar under a name.
    package static func saveSession(_ name: String, of jar: String) -> Self {
        Self(.saveSnapshot, jar, document: SavedSessionDocument(name: name))
    }
}

extension SessionRequest where Answer == SessionRestorationReport {
    /// Restores a saved session.
    package static func restoreSession(_ name: String, of jar: String) -> Self {
        Self(.restoreSnapshot, jar, name)
    }
}

extension SessionRequest where Answer == SavedSessionReport {
    /// Removes a saved session.
    package static func removeSavedSession(_ name: String, of jar: String) -> Self {
        Self(.removeSnapshot, jar, name)
    }
}

extension SessionRequest where Answer == SessionEndReport {
    /// Removes the session cookies, as a browser does when it quits.
    package static func endSession(of jar: String) -> Self {
        Self(.endSession, jar)
    }
}

extension SessionRequest where Answer == HeaderFieldList {
    /// The header fields that are stored with a jar.
    package static func headerFields(of jar: String, showingValues: Bool = false) -> Self {
        Self(.listHeaderFields, jar, query: [("values", showingValues ? "true" : nil)])
    }
}

extension SessionRequest where Answer == HeaderFieldReport {
    /// Stores a header field with a jar.
    package static func setHeaderField(_ name: String, _ document: HeaderFieldSettingDocument, of jar: String) -> Self {
        Self(.setHeaderField, jar, name, document: document)
    }

    /// Removes a header field from a jar.
    package static func removeHeaderField(_ name: String, scope: String? = nil, of jar: String) -> Self {
        Self(.removeHeaderField, jar, name, query: [("scope", scope)])
    }
}

extension SessionRequest where Answer == LoginRuleList {
    /// The login rules of a jar.
    package static func loginRules(of jar: String) -> Self {
        Self(.listLoginRules, jar)
    }
}

extension SessionRequest where Answer == LoginRuleReport {
    /// Stores a login rule with a jar.
    package static func setLoginRule(_ name: String, _ document: LoginRuleDocument, of jar: String) -> Self {
        Self(.setLoginRule, jar, name, document: document)
    }
}

extension SessionRequest where Answer == Void {
    /// Removes a login rule from a jar.
    package static func removeLoginRule(_ name: String, of jar: String) -> Self {
        Self(.removeLoginRule, jar, name)
    }
}

extension SessionRequest where Answer == WebStorageList {
    /// The origins whose `localStorage` a jar holds; with an origin, its items.
    package static func webStorage(of jar: String, origin: String? = nil, showingValues: Bool = false) -> Self {
        Self(.listWebStorage, jar, query: [("origin", origin), ("values", showingValues ? "true" : nil)])
    }
}

extension SessionRequest where Answer == WebStorageRemoval {
    /// Removes `localStorage`: all of a jar, of one origin, or one item.
    package static func removeWebStorage(of jar: String, origin: String? = nil, key: String? = nil) -> Self {
        Self(.removeWebStorage, jar, query: [("origin", origin), ("key", key)])
    }
}

extension SessionRequest where Answer == SiteDataList {
    /// The data of sites in a jar that meets every condition, by site and type.
    ///
    /// - Parameters:
    ///   - site: A host of the site.
    ///   - since: The earliest time at which it was set or stored (RFC 3339), or a duration before now such as `2h`; requires types without `storage`.
    ///   - types: `cookies`, `cache`, `storage`; `nil` for those that the other conditions allow.
    package static func siteData(
        of jar: String, site: String? = nil, since: String? = nil, types: [String]? = nil
    ) -> Self {
        Self(
            .listSiteData, jar,
            query: [("site", site), ("since", since), ("types", types?.joined(separator: ","))])
    }
}

extension SessionRequest where Answer == SiteDataRemovalReport {
    /// Removes the data of sites in a jar that meets every condition, which ``siteData(of:site:since:types:)`` lists.
    ///
    /// - Parameter all: Whether everything is removed. Then there is no other condition.
    package static func removeSiteData(
        of jar: String, site: String? = nil, since: String? = nil, types: [String]? = nil, all: Bool = false
    ) -> Self {
        Self(
            .removeSiteData, jar,
            query: [
                ("site", site), ("since", since), ("types", types?.joined(separator: ",")), ("all", all ? "true" : nil),
            ])
    }
}

extension SessionRequest where Answer == CachedResponseList {
    /// A page of the responses in the cache of a jar, or of one of its sites.
    ///
    /// - Parameter showingQueries: Whether URLs have their queries, without the secrets in them.
    package static func cachedResponses(
        of jar: String, site: String? = nil, showingQueries: Bool = false, limit: Int? = nil, cursor: String? = nil
    ) -> Self {
        Self(
            .listCachedResponses, jar,
            query: [
                ("site", site), ("queries", showingQueries ? "true" : nil), ("limit", limit.map(String.init)),
                ("cursor", cursor),
            ])
    }
}

extension SessionRequest where Answer == CachedResponseDetailsList {
    /// The responses to one URL in the cache of a jar.
    package static func cachedResponses(to url: String, of jar: String, showingQueries: Bool = false) -> Self {
        Self(.showCachedResponses, jar, query: [("url", url), ("queries", showingQueries ? "true" : nil)])
    }
}

extension SessionRequest where Answer == CacheExplanationReport {
    /// How the cache of a jar would answer a request.
    package static func explain(_ document: ExplainCacheDocument, in jar: String) -> Self {
        Self(.explainCache, jar, document: document)
    }
}

extension SessionRequest where Answer == CacheStatisticsReport {
    /// How much the cache of a jar holds.
    package static func cacheStatistics(of jar: String) -> Self {
        Self(.cacheStatistics, jar)
    }
}

extension SessionRequest where Answer == CacheRemovalReport {
    /// Removes responses from the cache of a jar: all of them, or those that meet every condition.
    ///
    /// - Parameters:
    ///   - site: A host of the site.
    ///   - since: The earliest time at which they were stored (RFC 3339).
    ///   - urls: Their URLs; empty for any.
    package static func purgeCache(
        of jar: String, site: String? = nil, since: String? = nil, urls: [String] = []
    ) -> Self {
        Self(.purgeCache, jar, query: [("site", site), ("since", since)] + urls.map { ("url", $0) })
    }

    /// Removes the responses of all jars.
    package static func purgeAllCaches() -> Self {
        Self(.purgeAllCaches)
    }
}
