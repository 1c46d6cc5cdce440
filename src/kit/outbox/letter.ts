/** A file that a letter names: its link is signed when the mail is sent, and works for an hour from then. */
export type LetterFile = { id: string; filename: string; size: number };

/** An answer or a fact: a label with a text of one or more lines, or with files. */
export type LetterField = { label: string } & ({ value: string } | { files: readonly LetterFile[] });

/**
 * A part of a letter. Texts are plain: every character is shown as it is, a line break is one, and an empty line
 * begins a paragraph. Markup is made in one place only (src/mail/template/).
 */
export type LetterBlock =
  | { kind: 'text'; text: string }
  | { kind: 'heading'; text: string }
  /** An action; its address is written out below, for readers that show no buttons. http and https only. */
  | { kind: 'button'; label: string; url: string }
  | { kind: 'fields'; fields: readonly LetterField[] };

/** What a mail says, apart from how it looks: one letter becomes the HTML and the text of the mail. */
export type Letter = {
  /** The language of the text (BCP 47), English when left out: readers speak and hyphenate by it. */
  lang?: string;
  heading: string;
  blocks: readonly LetterBlock[];
  /** The sentence below files: their links do not last. English when left out. */
  filesNote?: string;
  /** The small print: why this person gets this mail. */
  reason: string;
};
