/** The style of the reference page, served inline and allowed by its hash. */
export const docsStyle = `
:root { color-scheme: light dark; --text: #1d2433; --soft: #5a6478; --line: #e3e6ec; --paper: #ffffff; --tint: #f5f6f9; --accent: #0f6b57; }
@media (prefers-color-scheme: dark) { :root { --text: #e7e9ef; --soft: #a3abbd; --line: #2c3240; --paper: #14171e; --tint: #1c2029; --accent: #5fcfb4; } }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); background: var(--paper); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
nav { position: sticky; inset-block-start: 0; block-size: 100vh; overflow-y: auto; padding: 2rem 1.5rem; border-inline-end: 1px solid var(--line); background: var(--tint); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .35rem 0; color: var(--soft); text-decoration: none; }
nav a:hover { color: var(--accent); }
.brand { margin: 0 0 1rem; font-weight: 650; }
main { max-inline-size: 56rem; padding: 3rem clamp(1.25rem, 4vw, 4rem) 6rem; }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; letter-spacing: -.02em; }
h2 { margin: 3.5rem 0 .5rem; font-size: 1.35rem; line-height: 1.3; }
.lead { color: var(--soft); font-size: 1.125rem; }
a { color: var(--accent); }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, pre { font: .9em/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: 10px; background: var(--tint); }
.path { margin: 0; }
.method { display: inline-block; min-inline-size: 4.5rem; padding: .1rem .5rem; border-radius: 6px; background: var(--tint); border: 1px solid var(--line); text-align: center; font-weight: 650; font-size: .8rem; }
table { inline-size: 100%; margin-block: 1rem; border-collapse: collapse; }
caption { padding-block: .5rem; text-align: start; font-weight: 650; color: var(--soft); font-size: .875rem; }
th, td { padding: .5rem .75rem .5rem 0; border-block-start: 1px solid var(--line); text-align: start; vertical-align: top; font-weight: 400; overflow-wrap: anywhere; }
th { inline-size: 11rem; }
@media (max-width: 48rem) { body { display: block; } nav { position: static; block-size: auto; border: 0; border-block-end: 1px solid var(--line); } th { inline-size: auto; } }
`;
