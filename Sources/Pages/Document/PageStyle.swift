/// The style sheet of a page: light, and dark where that is asked for.
struct PageStyle {
    /// A variable of the style sheet.
    struct Colour {
        var name: String
        var light: String
        var dark: String
    }

    /// What its charts draw.
    var series: [ChartSeries] = []
    /// Beside those of its series and of every page.
    var colours: [Colour] = []
    /// Selects the cells of tables that hold words, beside those of the class `word`.
    var wordCells: [String] = []
    /// For what only this page has.
    var rules = ""

    var text: String {
        let colours = Self.colours + series.map(\.colour) + colours
        func variables(_ value: (Colour) -> String) -> String {
            colours.map { "--\($0.name):\(value($0))" }.joined(separator: ";")
        }
        let words = (["table .word"] + wordCells).joined(separator: ",")
        return ":root{color-scheme:light dark;\(variables(\.light))}\n"
            + "@media(prefers-color-scheme:dark){:root{\(variables(\.dark))}}\n"
            + Self.texts + Self.charts + series.map(\.rules).joined()
            + "\(Self.tables)\(words){text-align:left}\n\(Self.folded)\(rules)\n"
            + Self.media
    }

    private static let colours = [
        Colour(name: "ground", light: "#fff", dark: "#15181c"),
        Colour(name: "ink", light: "#1d2126", dark: "#e6e9ed"),
        Colour(name: "faint", light: "#69727d", dark: "#98a2ad"),
        Colour(name: "grid", light: "#e3e6ea", dark: "#2c3239"),
    ]

    private static let texts = """
        body{margin:2rem auto;padding:0 1rem;max-width:1160px;background:var(--ground);\
        color:var(--ink);font:15px/1.5 system-ui,sans-serif}
        h1{font-size:clamp(1.6rem,4.5vw,2.5rem);line-height:1.2;margin:.5rem 0 1rem;\
        text-wrap:balance}h2{font-size:1.2rem;margin:2.2rem 0 .3rem}\
        h3{font-size:1rem;margin:1.6rem 0 .2rem}h3 small{font-weight:400;color:var(--faint);\
        margin-left:.6em}
        p{max-width:52rem;margin:.5rem 0}.faint{color:var(--faint)}
        dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;max-width:52rem;\
        margin:1rem 0}dt{font-weight:600}dd{margin:0}

        """

    private static let charts = """
        .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(400px,100%),1fr));\
        gap:1rem;margin-top:1rem}
        figure{margin:0;max-width:560px}figcaption{font-weight:600}figure svg{width:100%;\
        height:auto;display:block}
        .grid{stroke:var(--grid);fill:none}text{fill:var(--ink);font-size:14px}
        text.scale,text.axis{fill:var(--faint)}text.note{font-size:13px}\
        text.better{font-style:italic}
        .line{fill:none;stroke-width:2}.band{stroke:none;opacity:.14}
        .range,.halo{fill:none}.range{stroke:var(--ink);stroke-width:1.5}\
        .halo{stroke:var(--ground);stroke-width:4.5;opacity:.85}

        """

    private static let tables = """
        table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.15rem .7rem;text-align:right;\
        border-bottom:1px solid var(--grid);white-space:nowrap;font-variant-numeric:tabular-nums}\
        th{font-weight:600;vertical-align:bottom}
        """

    private static let folded = "summary{cursor:pointer}.scroll{overflow-x:auto}"

    private static let media = """
        @media(max-width:600px){body{margin:1rem auto;padding:0 .7rem}\
        dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}}
        @media(min-width:601px){figure text{font-size:12px}figure text.note{font-size:11px}}
        @media print{body{margin:0}}
        """
}
