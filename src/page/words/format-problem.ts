import { toAnswerProblem } from '#ast/answers/fill.ts';
import { formatFileSize } from '#ast/basics/format-size.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { type Form, isInput, walkElements } from '#ast/form/tree.ts';
import { formatExampleMoment, formatMoment } from '#ast/rules/moments.ts';
import type { AnswerProblem, ProblemValues, RuleName } from '#ast/rules/problem.ts';
import { formatNumber } from '#ast/rules/written-numbers.ts';
import { fillPlural, type PageProblems, type Words } from './words.ts';

/** Common names of file types. */
const names: Readonly<Record<string, string>> = {
  'application/msword': 'Word',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word',
  doc: 'Word',
  docx: 'Word',
  'application/vnd.ms-excel': 'Excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel',
  xls: 'Excel',
  xlsx: 'Excel',
  'application/vnd.ms-powerpoint': 'PowerPoint',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PowerPoint',
  ppt: 'PowerPoint',
  pptx: 'PowerPoint',
  jpg: 'JPEG',
  'text/plain': 'TXT',
};

/** Returns the name of a specific type: `PDF` for `.pdf`, `application/pdf`, `application/x-pdf`. */
function nameOf(type: string): string {
  const [, ending = type.slice(1)] = /\/(?:.*\.|x-)?([\w-]+)/.exec(type) ?? [];
  return names[type] ?? names[ending] ?? ending.toUpperCase();
}

/** Lists the types that an upload accepts in a language: `images and PDF`. */
export function formatFileTypes(
  types: readonly string[],
  words: Pick<Words, 'images' | 'sounds' | 'videos'>,
  language: string,
): string {
  const families: Readonly<Record<string, string>> = {
    'image/*': words.images,
    'audio/*': words.sounds,
    'video/*': words.videos,
  };
  const names = types.map((type) => type.toLowerCase()).map((type) => families[type] ?? nameOf(type));
  return new Intl.ListFormat(language).format(new Set(names));
}

/** Words for a single file by type. */
type FileNouns = Pick<Words, 'anImage' | 'aSound' | 'aVideo' | 'aPdf' | 'aFile'>;

/** Lists the types of a single file as alternatives: `a PDF, an image, or a Word file`. */
function formatOneFile(types: readonly string[], nouns: FileNouns, language: string): string {
  const families: Readonly<Record<string, string>> = {
    'image/*': nouns.anImage,
    'audio/*': nouns.aSound,
    'video/*': nouns.aVideo,
  };
  const nounOf = (type: string): string => {
    const name = nameOf(type);
    return families[type] ?? (name === 'PDF' ? nouns.aPdf : fillTemplate(nouns.aFile, { name }));
  };
  const names = new Set(types.map((type) => nounOf(type.toLowerCase())));
  return new Intl.ListFormat(language, { type: 'disjunction' }).format(names);
}

/** The texts and formats to describe a problem to a visitor. */
type MessageFormats = {
  /** The BCP 47 tag of the language of the page and its messages. */
  readonly language: string;
  readonly sentences: PageProblems;
  readonly words: FileNouns;
  readonly numberLocale: string;
};

/** The message for rules that our page cannot break: the form has changed, or another page sent the post. */
const broken = 'changed';
const sentenceOf: Partial<Record<RuleName, keyof PageProblems>> = {
  text: broken,
  upload: broken,
  no_file: broken,
  rows: broken,
  row: broken,
  row_question: broken,
  question: broken,
  no_answer: broken,
  more_names: broken,
  answers: broken,
  yes_no: 'required.yes_no',
  options: 'option',
  order: 'option',
  grid: 'option',
  consent: 'required.consent',
};

/**
 * Whether only posts from other pages can break the rule. `formatProblem` describes it for the authors of
 * those pages.
 */
export const isCausedByOtherPages = (rule: RuleName): boolean => sentenceOf[rule] === broken;

/**
 * Describes a problem for display at its question: without the label, and with dates, numbers and sizes in
 * the page's format. The author's own message takes precedence. Never throws. Values from the form are
 * inserted once and not parsed again.
 */
export function formatProblemForVisitor(
  { rule, custom, about, values = {} }: AnswerProblem,
  formats: MessageFormats,
): string {
  if (custom) return custom;
  const { sentences, language } = formats;
  const base = sentenceOf[rule] ?? (rule as keyof PageProblems);
  const variant = `${base}.${variantOf(rule, values) ?? about}`;
  const sentence = Object.hasOwn(sentences, variant)
    ? sentences[variant as keyof PageProblems]
    : sentences[base];
  const all = { ...examplesOf(rule, values, formats), ...values };
  const formatted = Object.entries(all).map(([name, value]): [string, string] => [
    name,
    formatProblemValue(rule, name, value, formats),
  ]);
  return fillPlural(sentence, language, all, Object.fromEntries(formatted));
}

/** Rules that only the server can check. It describes their problems itself. */
const serverOnly: ReadonlySet<string> = new Set(['taken', 'unverified', 'full'] satisfies RuleName[]);

/**
 * Returns the messages that a form's questions may need, for the page's script. @param offers whether options
 * have conditions.
 */
export function selectProblemSentences(form: Form, sentences: PageProblems, offers: boolean): PageProblems {
  const inputs = [...walkElements(form)].flatMap(({ element }) => (isInput(element) ? [element] : []));
  const about = new Set(inputs.map((input) => toAnswerProblem(input, { rule: 'required' }).about ?? ''));
  const needed = new Set(['typed_files', 'whole', 'decimals', ...about]);
  const known = Object.entries(sentences).filter(
    ([name]) =>
      !serverOnly.has(name) &&
      (offers || name !== ('withdrawn' satisfies RuleName)) &&
      needed.has(name.split('.')[1] ?? 'whole'),
  );
  return Object.fromEntries(known) as PageProblems;
}

function variantOf(rule: RuleName, { step, base, types }: ProblemValues): string | undefined {
  if (rule === 'required' && types !== undefined) return 'typed_files';
  if (rule !== 'step' || !Number.isInteger(Number(base) / Number(step))) return undefined;
  if (step === 1) return 'whole';
  return decimalsOf(step) === undefined ? undefined : 'decimals';
}

/** Returns the number of decimals of a step such as 0.1 or 0.01. */
function decimalsOf(step: string | number | undefined): number | undefined {
  const decimals = -Math.log10(Number(step));
  return Number.isInteger(decimals) && decimals > 0 ? decimals : undefined;
}

/** Returns examples that a message needs in addition to the values of its problem. */
function examplesOf(rule: RuleName, values: ProblemValues, { language }: MessageFormats): ProblemValues {
  if (rule === 'number') return { example: 3.5 };
  if (rule === 'date' || rule === 'time' || rule === 'datetime')
    return { example: formatExampleMoment(rule, language) };
  if (rule !== 'step') return {};
  const [step, base] = [Number(values['step']), Number(values['base'])];
  const first = base > 0 ? base : base + step;
  const limit = decimalsOf(step);
  return { first, second: first + step, third: first + 2 * step, ...(limit !== undefined && { limit }) };
}

function formatProblemValue(
  rule: RuleName,
  name: string,
  value: string | number,
  { language, numberLocale, words }: MessageFormats,
): string {
  if (typeof value === 'number')
    return rule === 'max_file_size' ? formatFileSize(value, language) : formatNumber(value, numberLocale);
  if (name === 'types') return formatOneFile(value.split(', '), words, language);
  return name === 'limit' ? formatMoment(value, language) : value;
}
