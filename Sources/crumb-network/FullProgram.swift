import CrumbCommands
import OpenIDConnect
import PostgreSQLEngine
import SessionClient
import SessionGateway

/// The program `crumb-network`: the commands of `crumb`, with an HTTP client and the verification of signatures.
@main
enum FullProgram {
    static func main() {
        CrumbProgram.main(
            network: Network(
                // Not before a command asks: options of it change the settings.
                endpoints: HTTPExchange(by: { .shared }),
                checkingIDTokens: IDTokenVerifier.check,
                service: { address, authorities in try ServiceTransport(to: address, trusting: authorities) },
                drawingQRCodes: { text, usesColor in
                    QRCode(text).map { (lines: $0.lines(usesColor: usesColor), columns: $0.columns) }
                },
                serving: ServiceRun.run, runningGateway: GatewayRun.run, fetchingPackages: PackageFetch.fetch,
                loadingPages: { try PageClient(through: $0) },
                creatingAuthorities: { hosts, now in
                    try CertificateAuthority(for: hosts, lifetime: CertificateAuthority.storedLifetime, now: now).stored
                },
                servers: ServerAccess(
                    opening: { try ServerStore.open($0, $1, $2) },
                    upgrading: { url, isNew in
                        try ServerStore.failing(url, warn: CrumbProgram.warn) { target in
                            let schema = try PostgreSQLSchema(target)
                            return try isNew ? schema.create() : schema.bringUpToDate()
                        }
                    })))
    }
}
