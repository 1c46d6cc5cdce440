import type { ElementType } from '#ast/form/elements.ts';
import { isEmail, isUrl } from '#ast/rules/text-formats.ts';

/** The question that the words of a line describe. */
export type GuessedQuestion = {
  readonly label: string;
  readonly isRequired: boolean;
  /** The type that the words in brackets name: `Notes (long text)`. */
  readonly hint: ElementType | undefined;
  /** The type that fits the label. It is overruled by a hint, and by options. */
  readonly type: ElementType;
};

type Rule = readonly [words: RegExp, type: ElementType];

/** Matches whole words of any script, so that "resume" is not found in "presumed". */
const words = (pattern: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern})(?![\\p{L}\\p{N}])`, 'iu');
/** Matches a whole text. */
const only = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, 'iu');

/** Words in brackets after a question. The whole text in the brackets must match. */
const hints: readonly Rule[] = [
  [
    only(
      String.raw`(?:(?:select|choose|pick|check|tick|mark) )?(?:several|multiple|many|one or more|all|any|as many|up to \d+|at least \d+)(?: .*)?|multiple[- ]choice|multi-?select|check ?box(?:es)?`,
    ),
    'multiple_choice',
  ],
  [only('(?:select|choose|pick) (?:one|a|an|1)(?: .*)?|single(?:[- ]choice)?|radio(?: buttons?)?'), 'radio'],
  [only('drop-?down(?: list)?|select'), 'dropdown'],
  [only('rank(?:ing|ed)?|in order|order of .*'), 'ranking'],
  [only('long|long (?:text|answer)|paragraphs?|multi-?line|text ?area|several lines'), 'textarea'],
  [only('short|short (?:text|answer)|text'), 'text'],
  [only('e-?mail(?: address)?'), 'email'],
  [only('(?:tele)?phone(?: number)?'), 'phone'],
  [only('number|numeric|integer|amount'), 'number'],
  [only('date (?:and|&|/|\\+) time|datetime'), 'datetime'],
  [only('date'), 'date'],
  [only('time'), 'time'],
  [only('yes ?(?:/|or|,) ?no|y ?/ ?n|boolean'), 'yes_no'],
  [only('file|upload|file upload|attachment'), 'file_upload'],
  [only('url|link|web ?site'), 'url'],
  [only('rating|stars|\\d+ stars'), 'rating'],
  [only('scale|nps|(?:0|1) ?(?:-|–|to) ?10'), 'scale'],
  [only('signature|sign'), 'signature'],
];

/** Words of a label, the most specific first. */
const labels: readonly Rule[] = [
  [words(String.raw`e-?mails?|e-?mail[- ]?adresse|correo(?: electrónico)?|courriel`), 'email'],
  [
    words(
      String.raw`(?:tele)?phone|mobile|cell(?:phone)?|whats ?app|telefon(?:nummer)?|handy(?:nummer)?|t[eé]l[eé]fono|téléphone`,
    ),
    'phone',
  ],
  [/^i (?:hereby )?(?:agree|accept|consent|confirm|have read)\b/i, 'consent'],
  [words('signature|sign here|unterschrift|firma'), 'signature'],
  [
    words(
      String.raw`upload|attach|attachments?|cv|curriculum vitae|résumé|resume|lebenslauf|(?:your )?photos?(?: of .*)?`,
    ),
    'file_upload',
  ],
  [words(String.raw`how likely|recommend us|net promoter`), 'scale'],
  [words(String.raw`rate|rating|how satisfied|how (?:did|do) you like|stars`), 'rating'],
  [
    words(
      String.raw`describe|description|comments?|messages?|feedback|explain|why|tell (?:us|me)|notes?|cover letter|details|about (?:you|yourself)|anything else|questions?|suggestions?|(?:postal |home |street |shipping |billing )?address|kommentar|nachricht|anschrift|beschreibung`,
    ),
    'textarea',
  ],
  [words(String.raw`url|web ?site|home ?page|linkedin|github|portfolio|link`), 'url'],
  [words(String.raw`date and time|day and time|appointment`), 'datetime'],
  [words(String.raw`what time|times?(?: of .*)?|uhrzeit`), 'time'],
  [
    words(
      String.raw`dates?|birthday|dob|datum|geburtstag|fecha|when|which day|what day|deadline|from when|until when`,
    ),
    'date',
  ],
  [
    words(
      String.raw`how many|how much|how old|number of|quantity|amount|age|salary|price|budget|count|total|anzahl|alter|years of|percentage`,
    ),
    'number',
  ],
  [
    /^(?:do|does|did|are|is|am|was|were|have|has|had|will|would|can|could|should|may|shall)\s.*\?$/i,
    'yes_no',
  ],
];

/** Words anywhere in a label that allow several choices. */
const severalWords = words(
  String.raw`(?:select|choose|pick|check|tick|mark) (?:all|any|several|as many|one or more)|all that apply`,
);

/** The endings of a label, and whether each makes the question required. The last ending of a label is read first. */
const endings: readonly (readonly [pattern: RegExp, isRequired: boolean | undefined])[] = [
  [/\s*[:：]$/u, undefined],
  [/\s*(?:\*|\\\*|＊)+$/u, true],
  [/\s*[([](?:required|mandatory|\*|pflichtfeld)[)\]]$/iu, true],
  [/\s*[([]optional[)\]]$/iu, false],
];

/** Reads the words of a question: its label, whether it is required, and the type that fits. */
export function guessQuestion(line: string): GuessedQuestion {
  // "1. Name", "2) Name" and "Q3: Name" are numbered.
  let label = line.trim().replace(/^(?:(?:q|question)\s*)?\d{1,3}\s*[.):]\s+(?=\S)/iu, '');
  label = label.replace(/^\*\*(.+)\*\*(?=[\s*:]*$)/u, '$1');
  let isRequired = false;
  let hint: ElementType | undefined;
  for (let before = ''; before !== label; ) {
    before = label;
    for (const [pattern, requires] of endings) {
      const rest = label.replace(pattern, '');
      if (rest === label || rest.trim() === '') continue;
      label = rest;
      isRequired = requires ?? isRequired;
    }
    const [bracket = '', words = ''] = /\s*[([]([^()[\]]{1,60})[)\]]$/u.exec(label) ?? [];
    const type = findRule(hints, words.trim());
    if (type === undefined || bracket.length === label.length) continue;
    hint ??= type;
    label = label.slice(0, -bracket.length);
  }
  if (hint === undefined && severalWords.test(label)) hint = 'multiple_choice';
  return { label: label.trim(), isRequired, hint, type: findRule(labels, label) ?? 'text' };
}

const findRule = (rules: readonly Rule[], text: string): ElementType | undefined =>
  rules.find(([pattern]) => pattern.test(text))?.[1];

/** The types that a value can prove, the strictest first. A value of a table is at most one of them. */
const proofs: readonly (readonly [ElementType, (value: string) => boolean])[] = [
  ['email', (value) => value.includes('@') && isEmail(value)],
  ['url', isUrl],
  ['yes_no', (value) => /^(?:yes|no|true|false|ja|nein)$/i.test(value)],
  ['datetime', (value) => /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(value)],
  ['date', (value) => /^(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4})$/.test(value)],
  ['time', (value) => /^\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?$/i.test(value)],
  ['number', (value) => /^[+-]?(?:\d+|\d{1,3}(?:[ ,.]\d{3})+)(?:[.,]\d+)?$/.test(value)],
  ['phone', (value) => /^\+?[\d ()./-]{6,25}$/.test(value)],
];

/** A question with this many different values or fewer may be a choice. */
const mostOptions = 12;
const longestOption = 60;

type GuessedAnswers = { readonly type: ElementType; readonly options?: readonly string[] };

/**
 * Returns the type that the values of a column have, with the options if it is a choice. Undefined if the
 * column has no values.
 * @param guessed the type that the words of the heading suggest; it wins if the values allow it.
 */
export function guessAnswerType(guessed: ElementType, values: readonly string[]): GuessedAnswers | undefined {
  if (values.length === 0) return undefined;
  const proof = proofs.find(([type]) => type === guessed)?.[1];
  if (proof ? values.every(proof) || guessed === 'phone' : guessed !== 'text' && guessed !== 'radio')
    return { type: guessed };
  const proven = proofs.find(([, fits]) => values.every(fits))?.[0];
  if (proven) return { type: proven };
  if (values.some((value) => value.length > 100 || value.includes('\n'))) return { type: 'textarea' };
  const options = [...new Set(values)];
  const repeats = values.length >= options.length * 2 && options.length > 1;
  const isChoice =
    repeats && options.length <= mostOptions && options.every((each) => each.length <= longestOption);
  return isChoice ? { type: 'radio', options } : { type: 'text' };
}
