import { answerLimits } from '../../basics/limits.ts';
import { trimText } from '../../basics/text.ts';
import { fileRules } from '../eager-rules.ts';
import { type CheckedAnswer, refuseAnswer } from '../rules.ts';

const most = answerLimits.signatureCharacters;

/** An image that the page's script makes from a drawing, or that this module makes from a typed name. */
export const rules = {
  ...fileRules,
  noun: 'signature',
  files: { accept: ['image/png', 'image/svg+xml'], max_file_size: answerLimits.signatureBytes, max_files: 1 },
  check: (_attrs: object, value: unknown): CheckedAnswer =>
    typeof value === 'string' && trimText(value).length > most
      ? { ok: false, broken: { rule: 'max_length', values: { limit: most } } }
      : refuseAnswer('upload'),
  writeFile: (name: string) =>
    name.length <= most
      ? {
          filename: `${name.replaceAll(/[/\\]/g, '-')}.svg`,
          content_type: 'image/svg+xml',
          text: drawn(name),
        }
      : undefined,
} as const;

const size = { width: 600, height: 200 } as const;

/** Draws a name as an image for any viewer, in the most handwritten font available and as large as fits. */
function drawn(name: string): string {
  const { width, height } = size;
  const em = Math.min(64, (1.8 * width) / name.length);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><rect width="${width}" height="${height}" fill="#fff"/><text x="${width / 2}" y="${height / 2}" text-anchor="middle" dominant-baseline="middle" font-family="Snell Roundhand, Segoe Script, Bradley Hand, cursive" font-size="${em.toFixed(1)}" fill="#17211e">${escaped(name)}</text></svg>`;
}

const escaped = (text: string): string =>
  text.replaceAll(/[&<>\p{Cc}\p{Cs}]/gu, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[mark] ?? '');
