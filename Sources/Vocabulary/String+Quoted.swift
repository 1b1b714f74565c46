extension String {
    /// In quotes for a message: control characters as escapes, no more than 80 characters.
    package var quoted: String {
        var text = "\""
        var count = 0
        for scalar in unicodeScalars {
            guard count < 80 else { return text + "…\"" }
            count += 1
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate,
                    .privateUse, .unassigned:
                    text += "\\u{\(String(scalar.value, radix: 16))}"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
        return text + "\""
    }
}
