/// The style sheet of the page: light, and dark where that is asked for.
enum PageStyle {
    static let text = """
        :root{color-scheme:light dark;--ground:#fff;--ink:#1d2126;--faint:#69727d;--grid:#e3e6ea;\
        --offstage:#0a62c9;--oracle:#787e88;--histogram:#b94f06;--waking:#1f7d3e;--fixed:#8b3fb8;\
        --late:#c9302c;--use:#b9c3cf;--shade:#f7f8fa;--stripe:#eef1f4}
        @media(prefers-color-scheme:dark){:root{--ground:#15181c;--ink:#e6e9ed;--faint:#98a2ad;\
        --grid:#2c3239;--offstage:#6ab0ff;--oracle:#8d949e;--histogram:#f2a05c;--waking:#6fce8d;\
        --fixed:#cf9af0;--late:#ff7d75;--use:#55616e;--shade:#1b1f24;--stripe:#22272d}}
        body{margin:2rem auto;padding:0 1rem;max-width:1160px;background:var(--ground);\
        color:var(--ink);font:15px/1.5 system-ui,sans-serif}
        h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.2rem;margin:2.2rem 0 .3rem}\
        h3{font-size:1rem;margin:1.6rem 0 .2rem}h3 small{font-weight:400;color:var(--faint);\
        margin-left:.6em}
        p{max-width:52rem;margin:.5rem 0}.faint{color:var(--faint)}
        dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;max-width:52rem;\
        margin:1rem 0}dt{font-weight:600}dd{margin:0}
        .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));\
        gap:1rem;margin-top:1rem}
        figure{margin:0}figcaption{font-weight:600}figure svg{width:100%;height:auto}
        .grid{stroke:var(--grid);fill:none}text{fill:var(--ink);font-size:12px}
        text.scale,text.axis{fill:var(--faint)}text.note{font-size:10px}
        .line{fill:none;stroke-width:2}.band{stroke:none;opacity:.14}
        .range{stroke:var(--ink);stroke-width:1.5;opacity:.55;fill:none}
        .offstage .line{stroke-width:3}text.name.offstage{font-weight:700}
        .offstage .line{stroke:var(--offstage)}.offstage circle,.offstage .band,.offstage .bar,\
        text.offstage{fill:var(--offstage)}dt.offstage{color:var(--offstage)}
        .oracle .line{stroke:var(--oracle);stroke-dasharray:5 4}.oracle circle,.oracle .band,\
        .oracle .bar,text.oracle{fill:var(--oracle)}dt.oracle{color:var(--oracle)}
        .histogram .line{stroke:var(--histogram)}.histogram circle,.histogram .band,\
        .histogram .bar,text.histogram{fill:var(--histogram)}dt.histogram{color:var(--histogram)}
        .waking .line{stroke:var(--waking)}.waking circle,.waking .band,.waking .bar,\
        text.waking{fill:var(--waking)}dt.waking{color:var(--waking)}
        .fixed .line{stroke:var(--fixed)}.fixed circle,.fixed .band,.fixed .bar,text.fixed\
        {fill:var(--fixed)}dt.fixed{color:var(--fixed)}
        table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.15rem .7rem;text-align:right;\
        border-bottom:1px solid var(--grid);white-space:nowrap;font-variant-numeric:tabular-nums}\
        th{font-weight:600;vertical-align:bottom}table .word,\
        .decisions :is(td,th):is(:nth-child(1),\
        :nth-child(2),:nth-child(5),:nth-child(8),:nth-child(9)){text-align:left}
        summary{cursor:pointer}.scroll{overflow-x:auto}\
        details.budget{margin:.6rem 0}details.budget>summary{font-weight:600}
        .day{display:flex;background:var(--shade);overflow:hidden;padding-right:12px}\
        .day>.apps{flex:none}.hours{position:relative;flex:1;min-width:0;padding-left:12px}\
        .hours svg{overflow:visible;display:block;position:relative}\
        .hours .stripes{position:absolute;left:0;width:1px}.day text{font-size:11px}
        .key{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:.8rem 0;padding:0;list-style:none;\
        font-size:14px}.key svg{vertical-align:middle;margin-right:.3rem}
        .stripe{stroke:var(--stripe);stroke-width:14}
        .use{stroke:var(--use);fill:none}.open{stroke:var(--late);stroke-width:2;fill:none}\
        .good{stroke:var(--waking);stroke-width:2;fill:none}.end{stroke:var(--faint);\
        stroke-dasharray:3 3}
        circle{stroke-width:1.3}circle.run{fill:var(--offstage);stroke:var(--offstage)}\
        circle.slow{fill:var(--offstage);fill-opacity:.35;stroke:var(--offstage)}\
        circle.lost{fill:var(--shade);stroke:var(--offstage)}
        .wake{fill:var(--histogram)}.tie{stroke:var(--histogram);opacity:.45}
        @media(max-width:600px){body{margin:1rem auto;padding:0 .7rem}\
        dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}\
        figure text{font-size:15px}figure text.note{font-size:11px}}
        @media print{body{margin:0}}
        """
}
