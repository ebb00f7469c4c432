import SessionWire

extension OperationText {
    /// Jars, and what they have besides cookies.
    static let ofJars: [OperationText] = [
        Self(
            .listJars, "List the jars that the caller may see, by name",
            query: [
                "limit": ["schema": ["type": "integer", "minimum": 1, "maximum": 1000, "default": 1000]],
                "cursor": [
                    "schema": ["type": "string", "pattern": "^([0-9a-f]{2})+$"],
                    "description": "the 'next' of the previous page",
                ],
            ], gives: "JarList"),
        Self(
            .createJar, "Create a jar", takes: "NewJar",
            example: ["name": "new", "profile": "browser", "limits": ["domain-cookies": 50, "total-cookies": nil]],
            .document(201, "Created", "JarSettings")),
        Self(.getJar, "Get the settings and counts of a jar", gives: "Jar"),
        Self(
            .putJar, "Create the jar if it does not exist, and change the given settings", takes: "JarPut",
            example: ["profile": "browser"], .document(200, "The jar exists. Its settings", "JarSettings"),
            .document(201, "Created", "JarSettings")),
        Self(
            .changeJar, "Change the profile and limits of a jar", takes: "JarChange",
            example: ["limits": ["total-cookies": 1000]], gives: "JarSettings"),
        Self(.removeJar, "Remove a jar and its contents. For a day, it can be restored", gives: "JarRemoval"),
        Self(.clearJar, "Remove every cookie of a jar. Its settings and saved sessions stay", gives: "JarClear"),
        Self(
            .listSites, "List the sites of the jars that the caller may see, each once for each of its jars",
            query: ["limit": ["schema": ["type": "integer", "minimum": 1, "maximum": 1000, "default": 1000]]],
            gives: "SiteList", fails: [404]),
        Self(
            .listRemovedJars, "List what can be restored of the jars that the caller may see", gives: "RemovedJarList"),
        Self(
            .restoreJar, "Restore a removed jar, or the state of a jar from before it was cleared or merged into",
            takes: "JarRestoration", example: ["to": "restored"], gives: "RemovedJar"),
        Self(
            .pruneJar, "Remove the expired cookies of a jar and unused data", takes: "PruneRequest",
            example: ["vacuum": false], gives: "Pruning"),
        Self(
            .prune, "Remove the expired cookies of all jars, old journal entries, and free pages of the file",
            takes: "PruneRequest", gives: "Pruning"),
        Self(.renameJar, "Rename a jar", takes: "JarTarget", example: ["to": "other"], gives: "JarRename"),
        Self(
            .copyJar, "Copy a jar with its cookies and settings to a new jar", takes: "JarTarget",
            example: ["to": "other"], .document(201, "Done", "JarCopy")),
        Self(
            .mergeJar, "Merge the cookies of a jar into another jar", takes: "JarTarget", example: ["to": "other"],
            gives: "JarMerge"),
        Self(.listSnapshots, "List the saved sessions", gives: "SavedSessionList"),
        Self(
            .saveSnapshot, "Save the cookies of a jar under a name", takes: "NewSnapshot", example: ["name": "tuesday"],
            .document(200, "Saved, and replaced the previous one", "SessionSave"),
            .document(201, "Saved", "SessionSave")),
        Self(.removeSnapshot, "Remove a saved session", gives: "SavedSession"),
        Self(.restoreSnapshot, "Restore the cookies of a jar from a saved session", gives: "SessionRestoration"),
        Self(.endSession, "Remove the session cookies of a jar, as a browser does when it quits", gives: "SessionEnd"),
        Self(
            .listHeaderFields, "List the header fields that requests of a jar carry besides cookies",
            gives: "HeaderFieldList"),
        Self(
            .setHeaderField, "Store a header field in a jar. It replaces the one with the same name and scope",
            takes: "HeaderFieldRequest", example: ["scope": "https://api.example/v2", "value": "k3y"],
            gives: "HeaderField"),
        Self(.removeHeaderField, "Remove a header field", gives: "HeaderField"),
        Self(.listLoginRules, "List the login rules of a jar", gives: "LoginRuleList"),
        Self(
            .setLoginRule,
            "Store a login rule under a name. The rule sends tokens to a site, so this requires access to tokens",
            takes: "LoginRuleRequest",
            example: [
                "scope": "https://app.example/", "profile": "work", "redirects": ["/login"], "delivery": "cookie",
                "template": "session={access_token}; Path=/; Secure; HttpOnly",
            ], gives: "LoginRule"),
        Self(.removeLoginRule, "Remove a login rule", Answer(status: 204, description: "Removed")),
        Self(
            .listWebStorage, "List the origins with localStorage in a jar, or the items of one origin",
            query: [
                "origin": [
                    "schema": ["type": "string"], "description": "a URL of the origin whose items are listed",
                ],
                "values": ["schema": ["type": "boolean"], "description": "requires 'secrets' and an origin"],
            ], gives: "WebStorageList"),
        Self(
            .removeWebStorage, "Remove localStorage: all of a jar, all of an origin, or one item",
            gives: "WebStorageRemoval"),
        Self(
            .listCachedResponses, "List the responses in the cache of a jar, in the order in which they were stored",
            query: [
                "limit": ["schema": ["type": "integer", "minimum": 1, "maximum": 1000, "default": 1000]],
                "cursor": [
                    "schema": ["type": "string", "pattern": "^[0-9]{1,19}$"],
                    "description": "the 'next' of the previous page",
                ],
            ], gives: "CachedResponseList"),
        Self(
            .showCachedResponses,
            "Show the stored responses to a URL, and what would happen with the next GET request",
            query: [
                "url": [
                    "schema": ["type": "string"], "required": true, "example": "https://www.example.com/",
                    "description": "the URL, with its query",
                ]
            ], gives: "CachedResponseDetailsList"),
        Self(
            .explainCache, "Explain how the cache would answer a request, by which rule, and why",
            takes: "ExplainCacheRequest",
            example: ["url": "https://www.example.com/app.js", "rules": ["keep *.woff2"]], gives: "CacheExplanation"),
        Self(
            .cacheStatistics, "Get how much the cache holds, and how often each rule has answered",
            gives: "CacheStatistics"),
        Self(
            .purgeCache, "Remove responses from the cache of a jar: all, or those that meet every condition",
            query: [
                "url": [
                    "schema": ["type": "array", "items": ["type": "string"]],
                    "description": "the URLs of the responses; not together with a site",
                ]
            ], gives: "CacheRemoval"),
        Self(
            .listSiteData, "List how much of each type of data a jar has of each site",
            query: SiteDataQueryText.parameters, gives: "SiteDataList"),
        Self(
            .removeSiteData,
            "Remove cookies, stored responses and localStorage. For a day, restoring the jar undoes it, except for responses",
            query: SiteDataQueryText.parameters.adding([
                "all": [
                    "schema": ["type": "boolean"],
                    "description": "remove everything; required if there is no other condition",
                ]
            ]), gives: "SiteDataRemoval"),
        Self(.purgeAllCaches, "Remove the responses of all jars from the cache", gives: "CacheRemoval"),
    ]
}

/// The parameters of the operations on the data of sites.
private enum SiteDataQueryText {
    static let parameters: PrintedJSON = [
        "site": ["schema": ["type": "string"], "description": "data of the site of this host"],
        "since": [
            "schema": ["type": "string"],
            "description":
                "data that was set or stored since this time (RFC 3339), or in the last part of time, such as 2h; localStorage has no times",
        ],
        "types": [
            "schema": [
                "type": "string", "pattern": "^(cookies|cache|storage)(,(cookies|cache|storage))*$",
            ],
            "description":
                "the types, with commas between them. Default: all that have times if since is given, else all",
        ],
    ]
}
