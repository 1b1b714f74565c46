internal import Vocabulary

/// A page that needs nothing else: no other file, no script, no network.
struct Page {
    var title: String
    var style: PageStyle
    /// HTML.
    var body: String

    var text: String {
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            + "<meta name=\"viewport\" content=\"width=device-width\">"
            + "<title>\(title.markup)</title>\n<style>\(style.text)</style></head>\n"
            + "<body>\n\(body)</body></html>\n"
    }
}
