#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(Security)
    internal import Security

    extension KeySource {
        /// A key in the keychain of an Apple system, created on first use.
        ///
        /// The item is in the app's data-protection keychain. It can be read after the first unlock of the device, in
        /// the background too.
        ///
        /// - Parameters:
        ///   - service: The name of the item's service, such as the app's bundle identifier.
        ///   - account: The name of the item within the service.
        ///   - accessGroup: The keychain access group that shares the item between apps and extensions; `nil` for the
        ///     app's own.
        public static func keychain(
            service: String, account: String = "sealing key", accessGroup: String? = nil
        ) -> KeySource {
            let item = KeychainItem(service: service, account: account, accessGroup: accessGroup)
            return KeySource(name: item.name) { mayCreate throws(SessionStoreError) in
                if let key = try item.key() { return key }
                guard mayCreate else {
                    throw SessionStoreError(.keyMissing, item.name, "the key of the database is missing; restore it")
                }
                try item.add(SealingKey())
                // The item is read back: if another process was first, its key counts.
                guard let key = try item.key() else {
                    throw SessionStoreError(
                        .keyUnavailable, item.name, "the key was removed while it was being created")
                }
                return key
            }
        }
    }

    /// A generic password in the data-protection keychain whose data is a key.
    private struct KeychainItem: Sendable {
        let service: String
        let account: String
        let accessGroup: String?

        var name: String { "the keychain item '\(service)'" }

        /// The attributes that identify the item.
        private var attributes: [CFString: Any] {
            var attributes: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
                kSecUseDataProtectionKeychain: true,
            ]
            if let accessGroup { attributes[kSecAttrAccessGroup] = accessGroup }
            return attributes
        }

        /// The key; `nil` if there is no item.
        func key() throws(SessionStoreError) -> SealingKey? {
            var query = attributes
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess else { throw failure(status) }
            guard let data = result as? Data, let key = SealingKey(bytes: Array(data)) else {
                throw SessionStoreError(.keyUnavailable, name, "the item is not a key of 32 bytes")
            }
            return key
        }

        /// Adds the item, unless there is one.
        func add(_ key: SealingKey) throws(SessionStoreError) {
            var item = attributes
            item[kSecValueData] = Data(key.exposedBytes)
            item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlock
            let status = SecItemAdd(item as CFDictionary, nil)
            guard status == errSecSuccess || status == errSecDuplicateItem else { throw failure(status) }
        }

        private func failure(_ status: OSStatus) -> SessionStoreError {
            switch status {
            case errSecInteractionNotAllowed:
                SessionStoreError(.keyLocked, name, "the keychain is locked; unlock the device and try again")
            case errSecMissingEntitlement:
                SessionStoreError(.keyUnavailable, name, "the app is not signed with an entitlement for the keychain")
            default: SessionStoreError(.keyUnavailable, name, "the keychain failed with status \(status)")
            }
        }
    }
#endif
