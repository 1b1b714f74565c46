import Linux

extension ScratchDirectory {
    /// What gzip makes of this, without the name and the time of a file.
    package func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        write(bytes, to: "plain")
        let ran = try Command("gzip", "-nf", self("plain")).run()
        guard ran.succeeded else { throw DidNotHappen(description: ran.errors) }
        return try Files.read(self("plain.gz"))
    }
}
