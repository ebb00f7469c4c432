import Platform
import Testing

@Suite("The names in a folder")
struct FolderNameTests {
    private let folder = TemporaryFolder()

    @Test("They are those of its files, also of hidden ones, and not of itself or the folder above it")
    func names() throws {
        for name in ["b", ".a"] { try folder.write([1], to: name) }
        #expect(FileSystem.names(in: folder.path).sorted() == [".a", "b"])
        #expect(try FileSystem.allNames(in: folder.path).sorted() == [".a", "b"])
    }

    @Test("A file, and a folder that is missing, have none")
    func missing() throws {
        try folder.write([1], to: "file")
        for name in ["file", "missing"] {
            #expect(FileSystem.names(in: folder.file(name)).isEmpty)
            #expect(throws: SystemError.self) { try FileSystem.allNames(in: folder.file(name)) }
        }
    }
}
