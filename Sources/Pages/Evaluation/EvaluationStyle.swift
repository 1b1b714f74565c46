/// How the evaluation's page looks, beside what all pages have.
extension PageStyle {
    static let evaluation = PageStyle(
        series: [
            ChartSeries(
                colour: Colour(name: "offstage", light: "#0a62c9", dark: "#6ab0ff"),
                isEmphasised: true
            ),
            ChartSeries(
                colour: Colour(name: "oracle", light: "#787e88", dark: "#8d949e"),
                isDashed: true
            ),
            ChartSeries(colour: Colour(name: "histogram", light: "#b94f06", dark: "#f2a05c")),
            ChartSeries(colour: Colour(name: "waking", light: "#1f7d3e", dark: "#6fce8d")),
            ChartSeries(colour: Colour(name: "fixed", light: "#8b3fb8", dark: "#cf9af0")),
        ],
        colours: [Colour(name: "late", light: "#c9302c", dark: "#ff7d75")] + DayChart.colours,
        wordCells: [
            ".decisions :is(td,th):is(:nth-child(1),:nth-child(2),:nth-child(5),:nth-child(8),"
                + ":nth-child(9))"
        ],
        rules: budgets + DayChart.rules + marks
    )

    private static let budgets =
        "details.budget{margin:.6rem 0}details.budget>summary{font-weight:600}\n"

    /// What stands on the lines of a day.
    private static let marks = """
        .open{stroke:var(--late);stroke-width:2;fill:none}\
        .good{stroke:var(--waking);stroke-width:2;fill:none}.end{stroke:var(--faint);\
        stroke-dasharray:3 3}
        circle{stroke-width:1.3}circle.run{fill:var(--offstage);stroke:var(--offstage)}\
        circle.slow{fill:var(--offstage);fill-opacity:.35;stroke:var(--offstage)}\
        circle.lost{fill:var(--shade);stroke:var(--offstage)}
        .wake{fill:var(--histogram)}.tie{stroke:var(--histogram);opacity:.45}
        @media(max-width:600px){.hours circle{r:2.4px}.hours .wake{transform:scale(.7)}}
        """
}
