import type { Row } from '#ast/fields.ts';
import { splitPiped } from '#ast/piping.ts';
import { type Html, html, joined } from './html.ts';

/** The answer to a question for a text that shows it: of a row, where the text stands in one. */
export type SayAnswer = (id: string, row?: Row) => string;

/**
 * A text of the author's with the answers that it shows, each by itself: an answer is text, whatever it says, and may be
 * of another direction. The script finds them by `data-answer`.
 */
export function piped(text: string, say: SayAnswer, row?: Row): Html {
  const parts = splitPiped(text).map((part) =>
    typeof part === 'string' ? html`${part}` : html`<bdi data-answer="${part.id}">${say(part.id, row)}</bdi>`,
  );
  return joined(parts);
}
