/// Numbers of bytes as people write them.
package enum ByteSize {
    /// Reads `4096`, `512K`, `200M`, `1G`, `2T`, with or without `B` or `iB`, in steps of 1024;
    /// nil for anything else and for more than `Int64.max`.
    package static func parse(_ text: String) -> Int64? {
        var bytes = Array(text.utf8)
        func drop(_ letter: UInt8) -> Bool {
            guard let last = bytes.last, last | 0x20 == letter else { return false }
            bytes.removeLast()
            return true
        }
        if drop(UInt8(ascii: "b")) { _ = drop(UInt8(ascii: "i")) }
        var shift: Int64 = 0
        for (letter, size) in [("k", 10), ("m", 20), ("g", 30), ("t", 40)] as [(Character, Int64)] {
            if let letter = letter.asciiValue, drop(letter) {
                shift = size
                break
            }
        }
        guard !bytes.isEmpty, bytes.allSatisfy(\.isDigit),
            let number = Int64(String(decoding: bytes, as: UTF8.self))
        else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
        return overflow ? nil : product
    }

    /// `200 MiB`, `1.5 GiB`, `17 B`: one digit after the point when it is not zero.
    package static func text(_ bytes: Int64) -> String {
        let magnitude = bytes.magnitude
        let sign = bytes < 0 ? "-" : ""
        for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")]
            as [(UInt64, String)]
        where magnitude >= 1 << shift {
            let whole = magnitude >> shift
            let tenth = ((magnitude & (1 << shift - 1)) * 10) >> shift
            return "\(sign)\(whole)\(tenth == 0 ? "" : ".\(tenth)") \(unit)"
        }
        return "\(sign)\(magnitude) B"
    }
}
