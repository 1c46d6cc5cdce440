import { attributes, type Html, html, toText, verbatim } from './html.ts';
import { stylesheet } from './style.ts';

/** Languages written from right to left, by their primary subtag. */
const rightToLeft = ['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi'];

function directionOf(language: string): 'rtl' | 'ltr' {
  return rightToLeft.includes(language.toLowerCase().split('-')[0]!) ? 'rtl' : 'ltr';
}

/**
 * A whole page. `language` is a BCP-47 tag. There is no script and no other resource: the style sheet is inline,
 * exactly as `headers.ts` hashes it.
 */
export function renderDocument(page: { language: string; title: string; main: Html }): string {
  const { language, title, main } = page;
  return toText(html`<!doctype html>
<html${attributes({ lang: language, dir: directionOf(language) })}>
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<style>${verbatim(stylesheet)}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`);
}
