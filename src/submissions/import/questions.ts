import { otherChoice } from '#ast/answers/options.ts';
import { factOf } from '#ast/fact-of.ts';
import { withStableLabels } from '#ast/piping.ts';
import { inLanguage } from '#ast/translations/translations.ts';
import {
  type Form,
  type InputElement,
  isCalculation,
  kindOf,
  languagesOf,
  listQuestions,
  matrixRowsOf,
  optionsOf,
  takesOther,
} from '#ast/tree.ts';
import { isList } from '#ast/types/rules.ts';
import { consentParts } from '../columns.ts';

/** Something that a heading or a cell can name: by its id, or by its label in any language of the form. */
export type Named = { readonly id: string; readonly labels: readonly string[] };

/** A question that a column can answer. */
export type ImportQuestion = Named & {
  readonly input: InputElement | undefined;
  /** The rows of a matrix and the parts of a consent, each with a column of its own. */
  readonly rows: readonly Named[];
  /** What can be chosen; where several can be, each may have a column of its own, and so may another answer. */
  readonly options: readonly Named[];
  readonly choices: readonly Named[];
  /** The questions of a row, of a repeatable composite. */
  readonly inputs: readonly ImportQuestion[];
};

/** The questions whose answers a cell can hold, by id: not files, nor what is calculated. */
export const importable = factOf(
  (form: Form): ReadonlyMap<string, ImportQuestion> =>
    new Map([...questionsOf(form)].filter(([, { input }]) => !input || isReadable(input))),
);

/** The questions that no cell can answer: files and signatures. */
export const unreadable = factOf((form: Form): readonly ImportQuestion[] =>
  [...questionsOf(form).values()].filter(({ input }) => input && kindOf(input) === 'files'),
);

/** What is calculated from other answers, in an import too. */
export const calculated = factOf((form: Form): readonly ImportQuestion[] =>
  [...questionsOf(form).values()].filter(({ input }) => input && isCalculation(input)),
);

const isReadable = (input: InputElement): boolean => kindOf(input) !== 'files' && !isCalculation(input);

const questionsOf = factOf((form: Form): ReadonlyMap<string, ImportQuestion> => {
  const versions = [form, ...languagesOf(form).map((language) => inLanguage(form, language))];
  const spoken = versions.flatMap((version) => [version, withStableLabels(version)]).map(listQuestions);
  return new Map(
    listQuestions(form).map((question, at) => {
      const all = spoken.map((questions) => questions[at]!);
      const { id } = question.element.attrs;
      if (question.kind === 'input')
        return [id, questionOf(all.map(({ element }) => element as InputElement))];
      const inputs = question.inputs.map((_, index) =>
        questionOf(all.flatMap((each) => (each.kind === 'group' ? [each.inputs[index]!] : []))),
      );
      const labels = distinct(all.map(({ element }) => element.attrs.label));
      return [id, { id, labels, input: undefined, rows: [], options: [], choices: [], inputs }];
    }),
  );
});

/** What services and people call an answer besides the options. */
const otherLabels = [
  'Other',
  'Other (please specify)',
  'Sonstiges',
  'Autre',
  'Otro',
  'Outro',
  'その他',
  '其他',
  'أخرى',
];

const distinct = (labels: readonly string[]): string[] => [...new Set(labels)];

/** One question in the form's own words and in each of its languages. */
function questionOf(inputs: readonly InputElement[]): ImportQuestion {
  const [input] = inputs as [InputElement, ...InputElement[]];
  const named = (listOf: (each: InputElement) => readonly { id: string; label: string }[]): Named[] =>
    listOf(input).map(({ id }, index) => ({
      id,
      labels: distinct(inputs.map((each) => listOf(each)[index]!.label)),
    }));
  const options = named(optionsOf);
  const other = takesOther(input) ? [{ id: otherChoice, labels: otherLabels }] : [];
  return {
    id: input.attrs.id,
    labels: distinct(inputs.map(({ attrs }) => attrs.label)),
    input,
    rows:
      kindOf(input) === 'consent'
        ? consentParts.map(({ id }) => ({ id, labels: [id] }))
        : named(matrixRowsOf),
    options,
    choices: isList(kindOf(input)) ? [...options, ...other] : [],
    inputs: [],
  };
}

/** As people compare words. */
export const plain = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();

/** Finds one of several by what it is called: exactly by label or id, else as people compare words, where only one is meant. */
export const finderOf = factOf((several: readonly Named[]): ((text: string) => string | undefined) => {
  const exact = new Map<string, string>();
  const loose = new Map<string, string | undefined>();
  for (const { id, labels } of several)
    for (const label of labels) if (!exact.has(label)) exact.set(label, id);
  for (const { id } of several) if (!exact.has(id)) exact.set(id, id);
  for (const [name, id] of exact) {
    const key = plain(name);
    loose.set(key, loose.has(key) && loose.get(key) !== id ? undefined : id);
  }
  return (text) => exact.get(text) ?? exact.get(text.trim()) ?? loose.get(plain(text));
});
