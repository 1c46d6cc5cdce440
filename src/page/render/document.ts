import { attributes, type Html, html, toText, verbatim } from './html.ts';
import { stylesheet } from '../style.ts';
import { type Look, plainLook } from '../theme/look.ts';

/** Languages written from right to left, by their primary subtag. */
const rightToLeft = ['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi'];

function directionOf(language: string): 'rtl' | 'ltr' {
  return rightToLeft.includes(language.toLowerCase().split('-')[0]!) ? 'rtl' : 'ltr';
}

/** A whole page. */
type Document = {
  /** BCP-47 tag. */
  readonly language: string;
  readonly title: string;
  readonly main: Html;
  /** What the form's theme makes of the page. */
  readonly look?: Look | undefined;
  /** The address of the page's script. */
  readonly script?: string | undefined;
};

/** The text of a page. Its style sheets are inline, exactly as `headers.ts` hashes them. */
export function renderDocument({ language, title, main, look = plainLook, script }: Document): string {
  const { style, mode, font, logo, cover, isEmbedded } = look;
  const early = attributes({ rel: 'preload', href: font, as: 'font', type: 'font/woff2', crossorigin: true });
  return toText(html`<!doctype html>
<html${attributes({ lang: language, dir: directionOf(language), 'data-embedded': isEmbedded })}>
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${mode === 'auto' ? 'light dark' : mode}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
${font && html`<link${early}>`}
<style>${verbatim(stylesheet)}</style>${
    style &&
    html`
<style>${verbatim(style)}</style>`
  }${
    script &&
    html`
<script${attributes({ type: 'module', src: script })}></script>`
  }
</head>
<body>
<main>
${cover && image('cover', cover)}
${logo && image('logo', logo)}
${main}
</main>
</body>
</html>
`);
}

/** Pictures of the author's say nothing that the title does not: they have no words of their own. */
function image(className: string, address: string): Html {
  return html`<img${attributes({ class: className, src: address, alt: '' })}>`;
}
