import bidiFactory, { type Bidi } from 'bidi-js';
import LineBreaker from 'linebreak';
import type { FontText } from './fonts.ts';

/** A part of a text in one font and one direction. */
export type TextRun = {
  readonly text: string;
  readonly font: string;
  /** Whether the font reverses the text. */
  readonly isReversed: boolean;
};

/** A line of a text: its runs from left to right, and their width. */
export type TextLine = { readonly runs: readonly TextRun[]; readonly width: number };

/** Returns the width of a run. */
export type MeasureRun = (run: TextRun) => number;

/** Reorders text for display (UAX #9). */
// The package exports the function itself, unlike its types.
const bidi = (bidiFactory as unknown as () => Bidi)();

type Span = { readonly start: number; readonly end: number };

/** Matches a text that fontkit draws from right to left: its first letter or digit decides. */
const reversedByFont =
  /^[^\p{L}\u0660-\u066c\u06f0-\u06f9]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u0660-\u066c\u06f0-\u06f9]/u;

/**
 * Breaks a text without line breaks into lines (UAX #14), and orders each line for display (UAX #9).
 * @param direction of a text without letters of either direction.
 */
export function* layOut(
  given: FontText,
  { width, direction, measure }: { width: number; direction: 'ltr' | 'rtl'; measure: MeasureRun },
): Generator<TextLine> {
  const { text } = given;
  const found = bidi.getEmbeddingLevels(text, hasLetters(text) ? 'auto' : direction);
  const base = found.paragraphs[0]?.level ?? 0;
  const runsOf = (span: Span) => splitRuns(given, found.levels, base, span);
  const widthOf = (span: Span): number => runsOf(span).reduce((sum, { run }) => sum + measure(run), 0);
  for (const span of breakLines(text, width, widthOf)) {
    const runs = reorder(runsOf(trimEnd(text, span)));
    yield { runs, width: runs.reduce((sum, run) => sum + measure(run), 0) };
  }
}

const hasLetters = (text: string): boolean => /\p{L}/u.test(text);

const trimEnd = (text: string, { start, end }: Span): Span => ({
  start,
  end: start + text.slice(start, end).trimEnd().length,
});

/** Fills each line with as many words as fit. */
function* breakLines(text: string, width: number, widthOf: (span: Span) => number): Generator<Span> {
  let start = 0;
  let used = 0;
  for (const word of splitWords(text, width, widthOf)) {
    if (used + widthOf(trimEnd(text, word)) > width && word.start > start) {
      yield { start, end: word.start };
      [start, used] = [word.start, 0];
    }
    used += widthOf(word);
  }
  yield { start, end: text.length };
}

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Splits a text where lines can end. A word that is wider than a line is split between characters. */
function* splitWords(text: string, width: number, widthOf: (span: Span) => number): Generator<Span> {
  const breaker = new LineBreaker(text);
  let start = 0;
  for (let next = breaker.nextBreak(); next; next = breaker.nextBreak()) {
    const word = { start, end: next.position };
    start = word.end;
    if (widthOf(trimEnd(text, word)) <= width) yield word;
    else
      for (const { segment, index } of characters.segment(text.slice(word.start, word.end)))
        yield { start: word.start + index, end: word.start + index + segment.length };
  }
}

type LeveledRun = { readonly run: TextRun; readonly level: number };

/** Splits a part of a text where its font or its direction changes. */
function splitRuns(
  { text, fonts }: FontText,
  levels: Uint8Array,
  base: number,
  { start, end }: Span,
): LeveledRun[] {
  const runs: LeveledRun[] = [];
  let from = start;
  for (let at = start + 1; at <= end; at += 1) {
    if (at < end && fonts[at] === fonts[from] && levels[at] === levels[from]) continue;
    const run = toRun(text.slice(from, at), fonts[from]!, levels[from] ?? base);
    if (run.text !== '') runs.push({ run, level: levels[from] ?? base });
    from = at;
  }
  return runs;
}

function toRun(text: string, font: string, level: number): TextRun {
  // Marks of direction have had their effect.
  const visible = text.replaceAll(/\p{Bidi_Control}/gu, '');
  const isRightToLeft = level % 2 === 1;
  const isReversed = reversedByFont.test(visible);
  const shown = Array.from(
    visible,
    (each) => (isRightToLeft ? bidi.getMirroredCharacter(each) : null) ?? each,
  );
  return { text: (isRightToLeft === isReversed ? shown : shown.toReversed()).join(''), font, isReversed };
}

/** Reverses the runs of each level, from the highest to the lowest odd one (UAX #9, L2). */
function reorder(runs: readonly LeveledRun[]): TextRun[] {
  const ordered = [...runs];
  for (let level = Math.max(0, ...runs.map((each) => each.level)); level > 0; level -= 1)
    for (let at = 0; at < ordered.length; at += 1) {
      let end = at;
      while (end < ordered.length && ordered[end]!.level >= level) end += 1;
      if (end === at) continue;
      ordered.splice(at, end - at, ...ordered.slice(at, end).toReversed());
      at = end;
    }
  return ordered.map(({ run }) => run);
}
