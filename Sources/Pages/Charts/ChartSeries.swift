/// How the lines and bars of one name look, in all charts of a page.
struct ChartSeries {
    /// Of its name: the name is that of its class, too.
    var colour: PageStyle.Colour
    var isDashed = false
    /// The one that the page is about.
    var isEmphasised = false

    /// Its rules of the style sheet.
    var rules: String {
        let name = colour.name
        var rules = ""
        if isEmphasised {
            rules += ".\(name) .line{stroke-width:3}text.name.\(name){font-weight:700}\n"
        }
        return rules
            + ".\(name) .line{stroke:var(--\(name))\(isDashed ? ";stroke-dasharray:5 4" : "")}"
            + ".\(name) circle,.\(name) .band,.\(name) .bar,text.\(name){fill:var(--\(name))}"
            + "dt.\(name){color:var(--\(name))}"
            + ".\(name) circle.ring{fill:var(--ground);stroke:var(--\(name));stroke-width:2}\n"
    }
}
