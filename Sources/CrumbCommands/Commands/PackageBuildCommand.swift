import ArgumentParser
import CookieModel
import OfflinePackages
import Platform
import SessionOperations

struct PackageBuildCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "build",
        abstract: "Build a package from a folder, or from a recording (HAR).",
        usage:
            "crumb gateway package build [<options>] --name <name> --version <version> --output <file> <folder-or-har>",
        discussion: """
            crumb gateway package build dist --base https://shop.example/ --name shop --version 1.4.0 -o shop.zip

            Of a folder, each file answers the URL of its path below --base, and an index.html that of its folder, too. Of \
            a recording, each successful response to a GET request answers its URL. Cookies and credentials are never \
            packaged, and responses that depend on them are left out; a note names what was left out and why.
            """)

    @OptionGroup var output: OutputOptions

    @Option(help: .value("url", "The URL of the folder, such as https://shop.example/app/."))
    var base: String?

    @Option(help: "The name of the package: letters, digits, '.', '_' and '-', in lower case.")
    var name: String?

    @Option(help: .value("version", "The version: MAJOR.MINOR.PATCH, such as 1.4.0 (Semantic Versioning)."))
    var version: String?

    @Option(
        name: [.customShort("o"), .customLong("output")], help: .value("file", "The package to write."))
    var destination: String?

    @Option(help: .file("Sign the package with the Ed25519 private key in this PEM file, readable only by you."))
    var sign: String?

    @Flag(help: "Also package responses to requests with cookies or Authorization. They may be personal.")
    var withCredentials = false

    @Flag(help: "Replace an existing file.")
    var force = false

    @Argument(help: "The folder, or the recording as HAR.", completion: .file())
    var source: String?

    // They are optional for the parser, which would otherwise take --version for that of crumb if another one is missing.
    func validate() throws {
        for (option, value) in [("--name", name), ("--version", version), ("--output", destination)] where value == nil
        {
            throw ValidationError(
                "Give \(option): `crumb gateway package build FOLDER --name shop --version 1.0.0 -o shop.zip`.")
        }
        guard source != nil else { throw ValidationError("Name the folder or the recording to package.") }
    }

    func execute(_ console: Console) throws {
        let (name, path) = (name ?? "", source ?? "")
        guard let version = PackageVersion(version ?? "") else {
            throw ValidationError("--version: write a semantic version, MAJOR.MINOR.PATCH such as 1.4.0.")
        }
        let key = try sign.map(PackageKeyFile.privateKey)
        var builder = PackageBuilder()
        builder.includesCredentials = withCredentials
        if FileSystem.isFolder(path) {
            guard let text = base, let url = try? RequestURL(text), url.query.isEmpty, url.path.last == ASCII.slash
            else {
                throw ValidationError("--base: write the URL of the folder, with a slash at its end.")
            }
            try PackageFolder(path, at: url).add(to: &builder)
        } else {
            guard !FileSystem.isAbsent(path) else {
                throw CommandFailure(.inputNotFound, "\(path): no such folder or recording")
            }
            guard base == nil else {
                throw ValidationError("--base: this is for a folder; a recording has whole URLs. Leave it out.")
            }
            let limit = Int(PackageLimits().totalLength)
            try builder.add(har: InputFile(path).contents(limit: limit, otherwise: .packageInvalid))
        }
        for omission in builder.omissions { console.note("left out \(omission.subject): \(omission.reason)") }
        let file = try ExportDestination(destination, replaces: force, sparing: [], console: console)
        let manifest = try builder.write(name: name, version: version, signedBy: key) { octets in
            file.bytes += octets
            try file.writeIfFull()
        }
        try file.finish()
        let report = Report(
            name: name, version: version.description, resources: manifest.resources.count, octets: manifest.length,
            origins: manifest.origins, signed: key != nil,
            leftOut: builder.omissions.map { Report.Omission(subject: $0.subject, reason: $0.reason) })
        try console.report(
            report,
            note: "built package '\(name)' \(version): \(counted(report.resources, "resource")), "
                + "\(counted(Int(report.octets), "octet")), for \(report.origins.joined(separator: ", ")), "
                + (key == nil ? "not signed" : "signed"))
    }

    private struct Report: Encodable {
        struct Omission: Encodable {
            let subject: String
            let reason: String
        }

        let name: String
        let version: String
        let resources: Int
        let octets: Int64
        let origins: [String]
        let signed: Bool
        let leftOut: [Omission]
    }
}

/// The files of a folder as responses.
private struct PackageFolder {
    private let path: String
    private let base: RequestURL

    init(_ path: String, at base: RequestURL) {
        (self.path, self.base) = (path, base)
    }

    /// The media types of files by their extension. Others have no Content-Type, so a browser saves them.
    private static let types = [
        "avif": "image/avif", "css": "text/css; charset=utf-8", "csv": "text/csv; charset=utf-8", "gif": "image/gif",
        "htm": "text/html; charset=utf-8", "html": "text/html; charset=utf-8", "ico": "image/x-icon",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript; charset=utf-8", "json": "application/json",
        "map": "application/json", "mjs": "text/javascript; charset=utf-8", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "ogg": "audio/ogg", "otf": "font/otf", "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml",
        "ttf": "font/ttf", "txt": "text/plain; charset=utf-8", "wasm": "application/wasm", "wav": "audio/wav",
        "webm": "video/webm", "webmanifest": "application/manifest+json", "webp": "image/webp", "woff": "font/woff",
        "woff2": "font/woff2", "xml": "application/xml",
    ]

    /// Adds every file below the folder. Links and hidden files are left out.
    func add(to builder: inout PackageBuilder) throws {
        try add("", to: &builder)
    }

    private func add(_ relative: String, to builder: inout PackageBuilder) throws {
        let folder = relative.isEmpty ? path : "\(path)/\(relative)"
        for name in FileSystem.names(in: folder).sorted() {
            let file = relative.isEmpty ? name : "\(relative)/\(name)"
            var status = stat()
            guard !name.hasPrefix(".") else {
                builder.omit(file, "it is hidden")
                continue
            }
            guard lstat("\(path)/\(file)", &status) == 0, [S_IFDIR, S_IFREG].contains(status.st_mode & S_IFMT) else {
                builder.omit(file, "it is a link or no file")
                continue
            }
            if status.st_mode & S_IFMT == S_IFDIR {
                try add(file, to: &builder)
            } else {
                try add(file: file, to: &builder)
            }
        }
    }

    private func add(file: String, to builder: inout PackageBuilder) throws {
        let limit = Int(PackageLimits().resourceLength)
        let body = try InputFile("\(path)/\(file)").contents(limit: limit, otherwise: .packageInvalid)
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let type = name.contains(".") ? name.split(separator: ".").last.flatMap { Self.types[$0.lowercased()] } : nil
        let fields = type.map { [PackageManifest.Field("Content-Type", $0)] } ?? []
        var urls = [try url(of: file)]
        if name == "index.html" { urls.append(try url(of: String(file.dropLast(name.count)))) }
        for url in urls { try builder.add(PackageBuilder.Response(url: url, fields: fields, body: body)) }
    }

    /// The URL of a file below the base. Every octet of its name is one of the path, such as `?` and `#`. Octets that the
    /// URL Standard leaves in a path stay, because a browser requests them so.
    private func url(of file: String) throws -> RequestURL {
        let path = file.utf8.map { octet in
            let isPlain = ASCII.isLetter(octet) || ASCII.isDigit(octet) || "-._~!$&'()*+,;=@/:[]|".utf8.contains(octet)
            return isPlain ? String(UnicodeScalar(octet)) : "%\(Hexadecimal.text([octet]).uppercased())"
        }.joined()
        return try requestURL(base.description + path)
    }
}
