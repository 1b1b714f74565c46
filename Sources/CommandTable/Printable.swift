extension String {
    /// The text without anything that a terminal would obey: names and reasons come from apps.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar == "\n" || scalar == "\t" {
                text += " "
            } else if scalar.isControl {
                text += "\u{FFFD}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Columns that a terminal takes for it.
    package var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The beginning that fits into `width` columns, with `…` if something is cut off.
    package func fitted(to width: Int) -> String {
        guard columns > width else { return self }
        var text = ""
        var used = 1
        for character in self {
            used += character.columns
            if used > width { break }
            text.append(character)
        }
        return text + "…"
    }
}

extension Character {
    /// 2 for East Asian wide characters and pictures, else 1.
    var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
