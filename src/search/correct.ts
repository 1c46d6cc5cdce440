import { readQuestion } from '#ast/search/read-question.ts';
import type { Database } from '#kit/database.ts';
import { leastMistaken, nearestWord } from './nearest-word.ts';
import { mostMistakes } from '#kit/nearest.ts';
import { wordsAlone } from './question.ts';
import { writtenWords } from './written-words.ts';
import { countMatches } from './find-page.ts';

/** A word that nobody wrote, and the nearest that somebody did. */
export type Correction = { from: string; to: string };

/** More words than this are not looked after: each is a few looks. */
const mostWords = 5;

/**
 * The question with each word that no submission has replaced by the nearest that one has: `jonh` by `john`. It is looked
 * for among words with the same beginning, but for its first two letters (docs/decisions/0082).
 */
export async function correct(
  database: Database,
  reach: { workspace_id: string; form_ids: string[] | null },
  q: string,
): Promise<{ q: string; corrections: Correction[] } | undefined> {
  const words = readQuestion(q).parts.filter(
    (part) =>
      part.kind === 'word' && !part.isNot && part.text.length >= leastMistaken && /^\p{L}+$/u.test(part.text),
  );
  const corrections: Correction[] = [];
  let corrected = '';
  let at = 0;
  for (const { text, begin, end } of words.slice(0, mostWords)) {
    const to = (await isWritten(database, reach, text))
      ? undefined
      : await findNearest(database, reach, text);
    if (to === undefined) continue;
    corrections.push({ from: text, to });
    corrected += q.slice(at, begin) + to;
    at = end;
  }
  return corrections.length === 0 ? undefined : { q: corrected + q.slice(at), corrections };
}

type Reach = Parameters<typeof correct>[1];

async function isWritten(database: Database, reach: Reach, q: string): Promise<boolean> {
  const [{ total } = { total: 0 }] = await countMatches(database, { ...reach, ...wordsAlone, q });
  return total > 0;
}

async function findNearest(database: Database, reach: Reach, text: string): Promise<string | undefined> {
  const asked = text.toLowerCase();
  const half = asked.slice(0, Math.max(3, Math.ceil(asked.length / 2)));
  // The longer a beginning, the fewer submissions have it, and the further back these are looked for.
  const beginnings = [
    [half],
    [asked.slice(0, 2)],
    [`${asked[1]}${asked[0]}${asked[2]}`],
    // Where one letter may be wrong, the rest of the word is right.
    withAnotherLetter(mostMistakes(asked) === 1 ? asked : half),
  ];
  for (const among of beginnings) {
    const nearest = nearestWord(asked, await writtenWords(database, reach, among));
    if (nearest !== undefined) return nearest;
  }
  return undefined;
}

/** The first letter and the last of alphabets that lie together in Unicode. */
const alphabets = ['az', 'αω', 'ая', 'את', 'ءي'];

/** A beginning whose first letter or second is wrong, missing or too much: all that it may be, which the index has few of. */
function withAnotherLetter(beginning: string): string[] {
  return [0, 1].flatMap((at) => {
    const [before, after] = [beginning.slice(0, at), beginning.slice(at + 1)];
    return [
      before + after,
      ...alphabetOf(beginning[at]!).flatMap((letter) => [
        before + letter + after,
        before + letter + beginning.slice(at),
      ]),
    ];
  });
}

function alphabetOf(letter: string): string[] {
  const ends = alphabets.find(([first, last]) => first! <= letter && letter <= last!) ?? letter;
  const [first, last] = [ends.charCodeAt(0), ends.charCodeAt(ends.length - 1)];
  return Array.from({ length: last - first + 1 }, (_, place) => String.fromCharCode(first + place));
}
