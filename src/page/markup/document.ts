import { directionOf } from '#ast/basics/language-tags.ts';
import { type PageStyle, type Picture, plainPageStyle } from '../theme/page-style.ts';
import {
  attributes,
  faviconAddress,
  type Html,
  html,
  htmlToString,
  renderCover,
  renderCoverPreload,
  renderLogo,
  unescapedHtml,
} from './html.ts';
import { stylesheet } from './style.ts';

/** The link preview that other sites show (Open Graph). */
export type LinkPreview = {
  readonly title: string;
  /** Its URL must be absolute, because other sites fetch it. */
  readonly image?: Picture | undefined;
};

/** The parts of an HTML document. */
type Document = {
  /** BCP 47 tag. */
  readonly language: string;
  readonly title: string;
  readonly main: Html;
  /** The look of the form's theme. */
  readonly look?: PageStyle | undefined;
  readonly social?: LinkPreview | undefined;
  /** The URL of the page's script. */
  readonly script?: string | undefined;
};

/** Renders a page. Its style sheets are inline; `problem-page.ts` hashes their exact text. */
export function renderDocument({
  language,
  title,
  main,
  look = plainPageStyle,
  script,
  social,
}: Document): string {
  const { style, mode, font, isEmbedded } = look;
  const early = attributes({ rel: 'preload', href: font, as: 'font', type: 'font/woff2', crossorigin: true });
  return htmlToString(html`<!doctype html>
<html${attributes({ lang: language, dir: directionOf(language), 'data-embedded': isEmbedded })}>
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${mode === 'auto' ? 'light dark' : mode}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
${look.favicon && html`<link${attributes({ rel: 'icon', href: faviconAddress(look.favicon) })}>`}
${social && socialLines(social)}
${look.cover && renderCoverPreload(look.cover)}
${font && html`<link${early}>`}
<style>${unescapedHtml(stylesheet)}</style>${
    style &&
    html`
<style>${unescapedHtml(style)}</style>`
  }${
    script &&
    html`
<script${attributes({ type: 'module', src: script })}></script>`
  }
</head>
<body>
<main>
${look.cover && renderCover(look.cover)}
${look.logo && renderLogo(look.logo, look.darkLogo)}
${main}
</main>
</body>
</html>
`);
}

function socialLines({ title, image }: LinkPreview): Html[] {
  const lines: Readonly<Record<string, string | number | undefined>> = {
    'og:type': 'website',
    'og:title': title,
    'og:image': image?.address,
    'og:image:width': image?.size?.width,
    'og:image:height': image?.size?.height,
    'twitter:card': image && 'summary_large_image',
  };
  return Object.entries(lines).flatMap(([property, content]) =>
    content === undefined ? [] : [html`<meta${attributes({ property, content })}>`],
  );
}
