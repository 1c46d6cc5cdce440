import { createHash } from 'node:crypto';
import { factOf } from '#ast/fact-of.ts';
import { stylesheet } from './style.ts';
import { type Look, plainLook } from './theme/look.ts';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const styleHash = hashOf(stylesheet);

/**
 * Headers of a page of this room. The policy lets the page load its own inline style sheets, known by their hashes,
 * scripts, images and fonts of this origin, and nothing else. Only a page that was asked for as an embedded one may
 * be framed, by the origins of the form's settings. `no-store`: a page carries answers.
 */
function makeHeaders({ style, isEmbedded, embedOrigins = ['*'] }: Look) {
  const ancestors = isEmbedded ? embedOrigins.join(' ') : '';
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src ${style === '' ? styleHash : `${styleHash} ${hashOf(style)}`}`,
      "script-src 'self'",
      "connect-src 'self'",
      // Pictures that a visitor chose are shown from where the browser has them.
      "img-src 'self' blob:",
      "font-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      `frame-ancestors ${ancestors || "'none'"}`,
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  } as const satisfies Readonly<Record<string, string>>;
}

export const headersFor = factOf(makeHeaders);

/** Headers of pages without a theme. */
export const pageHeaders = headersFor(plainLook);
