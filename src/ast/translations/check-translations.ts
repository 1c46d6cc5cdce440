import { idOf, type Option } from '../answers/options.ts';
import { type AttributeSpecs, isMissing } from '../attributes.ts';
import { own } from '../json.ts';
import { quote, sayBytes } from '../problems.ts';
import { fitsBytes } from '../text.ts';
import { textAttributes } from './text-attributes.ts';
import type { Translation, Translations } from './shapes.ts';

type Said = Translation[string];

/** The attributes of a node that are right by themselves. */
type Attributes = Readonly<Record<string, unknown>> & { readonly translations?: Translations };

/**
 * What is wrong with a node's `translations`, each as the end of a sentence about them: every one that is of no language
 * of the form, of no text of the node, of no option, or no text that could stand there.
 */
export function* translationProblems(
  attrs: Attributes,
  specs: AttributeSpecs,
  languages: readonly string[],
): Generator<string, void> {
  const texts = new Map(textAttributes(specs));
  for (const [language, said] of Object.entries(attrs.translations ?? {})) {
    const where = `in ${quote(language)}`;
    const problem = languageProblem(language, languages);
    if (problem) yield problem;
    else
      for (const [name, text] of Object.entries(said)) {
        const spec = texts.get(name);
        if (!spec)
          yield `say ${quote(name)} ${where}, which is no text here: ${[...texts.keys()].join(', ')}`;
        else if (spec.kind === 'string') yield* textProblem(text, spec.maxBytes, `${quote(name)} ${where}`);
        else
          yield* labelProblems(text, spec.maxBytes, optionIds(own(attrs, name)), `${quote(name)} ${where}`);
      }
  }
}

/** What is wrong with a language in which something is translated. */
export function languageProblem(language: string, languages: readonly string[]): string | undefined {
  if (languages.slice(1).includes(language)) return undefined;
  if (language === languages[0]) return `say ${quote(language)}, in which the texts themselves are written`;
  const known = languages.length === 0 ? 'it names none' : languages.map(quote).join(', ');
  return `say ${quote(language)}, which is not among the form's "languages" (${known})`;
}

function* textProblem(text: Said, maxBytes: number, what: string): Generator<string, void> {
  if (typeof text !== 'string') yield `must have text as ${what}`;
  else if (isMissing(text)) yield `must not have a blank ${what}: leave it out`;
  else if (!fitsBytes(text, maxBytes)) yield `must have at most ${sayBytes(maxBytes)} as ${what}`;
}

function* labelProblems(
  labels: Said,
  maxBytes: number,
  ids: ReadonlySet<string>,
  what: string,
): Generator<string, void> {
  if (typeof labels === 'string') {
    yield `must have labels by the ids of options as ${what}`;
    return;
  }
  for (const [id, label] of Object.entries(labels)) {
    if (!ids.has(id)) yield `name the option ${quote(id)} in ${what}, which is not there`;
    else if (/[\r\n]/.test(label)) yield `must have no line breaks in ${what}`;
    else yield* textProblem(label, maxBytes, `label of ${quote(id)} in ${what}`);
  }
}

const optionIds = (options: unknown): ReadonlySet<string> =>
  new Set(Array.isArray(options) ? options.map((option: Option) => idOf(option)) : []);
