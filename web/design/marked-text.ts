export type SelectedText = { readonly text: string; readonly start: number; readonly end: number };

/** The number of stars of each mark; both together have three. */
const marks = { bold: 2, italic: 1 } as const;

/** Adds, replaces or removes a mark around the selection. Without a selection, adds an example. */
export function toggleMark(given: SelectedText, name: keyof typeof marks): SelectedText {
  const { text, start, end } = trimmed(given);
  const [before, selected, after] = [text.slice(0, start), text.slice(start, end), text.slice(end)];
  const found = Math.min(3, /\**$/.exec(before)![0].length, /^\**/.exec(after)![0].length);
  const stars = selected === '' ? 0 : found;
  // The marks are bits: bold is 2, italic is 1.
  const mark = '*'.repeat(stars ^ marks[name]);
  const marked = selected || `${name} text`;
  const from = start - stars + mark.length;
  return {
    text: `${before.slice(0, start - stars)}${mark}${marked}${mark}${after.slice(stars)}`,
    start: from,
    end: from + marked.length,
  };
}

/** Turns the selection into a link and selects the end of its address, to write it. */
export function addLink(given: SelectedText): SelectedText {
  const { text, start, end } = trimmed(given);
  const selected = text.slice(start, end);
  const isAddress = /^https:\/\/\S+$/.test(selected);
  const opening = `${text.slice(0, start)}[${isAddress ? '' : selected || 'link text'}](`;
  const address = isAddress ? selected : 'https://';
  // An address that was selected needs a text; otherwise the address is still to be written.
  const at = isAddress ? start + 1 : opening.length + address.length;
  return { text: `${opening}${address})${text.slice(end)}`, start: at, end: at };
}

/** Excludes spaces at the edges of the selection: a mark must touch its text. */
function trimmed({ text, start, end }: SelectedText): SelectedText {
  const selected = text.slice(start, end);
  if (selected.trim() === '') return { text, start, end: start };
  const from = start + selected.length - selected.trimStart().length;
  return { text, start: from, end: from + selected.trim().length };
}

/** Two isolates (U+2068, U+2069) in brackets: they tell a label from brackets of the author. */
const pipedLabel = /\[\u2068([^\u2069]*)\u2069\]/;

/** Formats the label of a question inside of another text: `[Full name]`. */
export const formatPipedLabel = (label: string): string => `[\u2068${label}\u2069]`;

/** Splits a text into literal parts and the labels in it, alternating. */
export const splitPipedText = (text: string): readonly string[] => text.split(pipedLabel);
