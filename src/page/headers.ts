import { createHash } from 'node:crypto';
import { stylesheet } from './style.ts';

const styleHash = createHash('sha256').update(stylesheet).digest('base64');

/**
 * Headers of every page of this room. The policy lets the page load its own inline style sheet, known by its hash,
 * images of this origin (the browser asks for the icon) and nothing else: no script, no foreign address.
 * `frame-ancestors 'self'` until embedding is a setting of the form. `no-store`: a page carries answers.
 */
export const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const satisfies Readonly<Record<string, string>>;
