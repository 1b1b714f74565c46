@testable import DeviceCore
import Testing
import Vocabulary

/// Names of downloaded files, of which a server may say anything.
struct FileNameTests {
    @Test(arguments: [
        ("../../.bashrc", "bashrc"), ("/etc/passwd", "passwd"), ("C:\\own\\a.exe", "a.exe"),
        ("a/b\\c", "c"), ("a/", "a"), ("a\\", "a"), ("...a", "a"), ("--help", "help"),
        (". -a", "a"), ("a. ", "a"), ("a\u{1}\u{7f}\u{85}b", "ab"), ("a\0b", "ab"),
        ("a\u{202e}gpj.exe", "agpj.exe"), ("a\u{2028}b\u{2029}c", "abc"), ("\u{feff}.a", "a"),
        ("a b.txt", "a b.txt"), ("ä.tar.gz", "ä.tar.gz"),
    ])
    func `nothing but a plain name is left`(name: String, safe: String) {
        #expect(FileName.safe(name) == safe)
    }

    @Test(arguments: ["", ".", "..", "/", "\\", "- .", "\u{200b}", "a/..", "\0"])
    func `of some nothing is left`(name: String) { #expect(FileName.safe(name) == nil) }

    @Test func `a name is not longer than a file system takes, and ends with a whole letter`() {
        let name = FileName.safe(String(repeating: "ä", count: 3000))
        #expect(name == String(repeating: "ä", count: 100))
        #expect(FileName.safe("a" + String(repeating: "ä", count: 3000))?.utf8.count == 199)
    }

    private static func long(_ letter: String, _ count: Int, _ rest: String = "") -> String {
        String(repeating: letter, count: count) + rest
    }

    private static let longNames: [(String, String)] = [
        (long("a", 300, ".txt"), long("a", 196, ".txt")),
        (long("ü", 200, ".tar.gz"), long("ü", 96, ".tar.gz")),
        (long("ü", 200, ".TAR.xz"), long("ü", 96, ".TAR.xz")),
        (long("b", 300, ".iso. "), long("b", 196, ".iso")),
        (long("a", 197, ".txt"), long("a", 196, ".txt")),
        (long("a", 196, ".txt"), long("a", 196, ".txt")),
        (long("a", 201), long("a", 200)), (long("a", 200), long("a", 200)),
        (long("a", 195, long(" ", 300, ".txt")), long("a", 195, ".txt")),
        (long("a", 195, long(".", 300, "txt")), long("a", 195, ".txt")),
        // The end of a sentence.
        (long("a", 300, ". And so on"), long("a", 200)),
        (long("a", 300, long(".b", 300)), long("a", 198, ".b")),
        (long("a", 300, long(".", 1, long("b", 16))), long("a", 200)),
    ]

    @Test(arguments: longNames)
    func `a name that is too long keeps its extension`(name: String, expected: String) {
        #expect(FileName.safe(name) == expected)
    }

    private func name(_ header: String?, of url: String = "http://a/b/file.bin?c=/d#/e") -> String {
        let fields = header.map { [HTTPField("Content-Disposition", $0)] } ?? []
        let answer = ExchangeAnswer(status: 200, headers: fields, url: url)
        return FileName.suggested(by: answer, of: "http://a/first")
    }

    @Test(arguments: [
        ("attachment; filename=\"a b.txt\"", "a b.txt"), ("attachment; filename=a.txt", "a.txt"),
        ("inline;FileName = \"a.txt\" ; x=y", "a.txt"), ("attachment; filename=\"a;b\"", "a;b"),
        ("attachment; filename=\"a\\\"b\"", "a\"b"), ("attachment; filename=\"..\\\\a\"", "a"),
        ("attachment; filename=\"unclosed", "unclosed"),
        // Escaped by no rule, as some servers have it.
        ("attachment; filename=\"C:\\dir\\win.txt\"", "win.txt"),
        ("attachment; filename=\"C:\\\\dir\\\\win.txt\"", "win.txt"),
        ("attachment; filename=\"\\\\host\\dir\\a b.txt\"", "a b.txt"),
        ("attachment; filename=C:\\dir\\win.txt", "win.txt"),
        ("attachment; filename*=ISO-8859-1''caf%E9.txt", "café.txt"),
        ("attachment; filename=\"a\"; filename*=iso-8859-1'fr'%C3%A9%85.txt", "Ã©.txt"),
        ("attachment; filename=\"a\"; filename*=UTF-8''%E2%82%AC.txt", "€.txt"),
        ("attachment; filename*=utf-8'de'..%2F..%2fa", "a"),
        ("attachment; filename*=UTF-8''a%00%0Ab", "ab"),
        // What cannot be read counts as missing.
        ("attachment; filename*=UTF-8''%ff; filename=\"a\"", "a"),
        ("attachment; filename*=latin1''%e4; filename=\"a\"", "a"),
        ("attachment; filename*=a; filename=\"b\"", "b"), ("attachment", "file.bin"),
        ("attachment; filename=\"..\"", "file.bin"), ("attachment; filename=", "file.bin"),
        (";;;===\"", "file.bin"),
    ])
    func `a server may choose the name`(header: String, expected: String) {
        #expect(name(header) == expected)
    }

    @Test func `else it is the last part of the last URL`() {
        #expect(name(nil) == "file.bin")
        #expect(name(nil, of: "http://a/b/%2e%2e%2fc%20d") == "c d")
        #expect(name(nil, of: "http://a/b/") == "first")
        #expect(name(nil, of: "http://a") == "first")
        #expect(name(nil, of: "http://a/%ff") == "first")
        #expect(FileName.suggested(by: nil, of: "http://a/?/b") == "download")
    }
}
