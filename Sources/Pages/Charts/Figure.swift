internal import Vocabulary

/// A drawing that is as wide as its place, with its title above.
struct Figure {
    var title: String
    var width: Int
    var height: Int
    /// SVG.
    var drawing: String

    var svg: String {
        "<figure><figcaption>\(title.markup)</figcaption><svg viewBox=\"0 0 \(width) \(height)\" "
            + "role=\"img\" aria-label=\"\(title.markup)\">\(drawing)</svg></figure>\n"
    }
}
