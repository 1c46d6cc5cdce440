import { fill } from '#ast/words.ts';
import type { english } from './en.ts';

/**
 * Every sentence that the page says by itself, by name; the rest of its text is the author's. `en.ts` holds the
 * English ones and decides the names; another language is another such file. A sentence is plain text with `{names}`
 * for what is put in, so that it travels to the page's script as JSON.
 */
export type Words = Readonly<Record<keyof typeof english, string>>;

/** A size for a person, counted in 1024s: `1.2 MB`, `340 KB`. A file of a few bytes is `1 KB`. */
export function saySize(bytes: number, words: Pick<Words, 'kilobytes' | 'megabytes'>): string {
  const kilobytes = Math.ceil(bytes / 1024);
  return kilobytes < 1024
    ? fill(words.kilobytes, { number: kilobytes })
    : fill(words.megabytes, { number: Math.round(kilobytes / 102.4) / 10 });
}
