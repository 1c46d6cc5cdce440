import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { jsonStorageProblem } from '#ast/basics/json.ts';
import { quote } from '#ast/basics/problems.ts';
import { formIndexOf } from '#ast/form/form-index.ts';
import { normalizeJson } from '#ast/form/normalize-json.ts';
import { type Form, isComposite, isInput, isRepeatable } from '#ast/form/tree.ts';
import { ApiError } from '#kit/errors.ts';
import { strictObject } from '#kit/validation.ts';
import { contentTypesOfKind } from '#submissions/summary/summarise.ts';
import { likeRegexPath, sameTextPath } from './where-path.ts';

const element = Type.String({ minLength: 1, maxLength: 64 });
const word = Type.String({ maxLength: 10_000 });
const end = Type.Union([Type.Number(), Type.String({ maxLength: 32 })]);

/** Bars of the summary that no `where` can express: of files, of rankings, and of questions in rows. */
export const SummaryBar = Type.Union([
  strictObject({ element, by: Type.Literal('file'), value: word }),
  strictObject({ element, by: Type.Literal('first'), value: word }),
  strictObject({ element, by: Type.Literal('rows'), from: Type.Number(), to: Type.Number() }),
  strictObject({ element, by: Type.Literal('option'), value: Type.Union([word, Type.Boolean()]) }),
  strictObject({ element, by: Type.Literal('text'), value: word }),
  strictObject({ element, by: Type.Literal('span'), from: end, to: end }),
  strictObject({ element, by: Type.Literal('answered') }),
]);
export type SummaryBar = Static<typeof SummaryBar>;

const check = Compile(SummaryBar);

/** The parameter `counted` of lists, used with `where`. */
export const summaryBarParameter = Type.Optional(
  Type.String({
    maxLength: 20_000,
    description:
      'Selects the submissions that one bar of the summary counts, as JSON: `{"element", "by", …}`. `by` is `file` (`value`: Images, PDF, Videos, Sound, Texts or Other files), `first` (`value`: the option ranked first) or `rows` (`from` and `to`: the number of rows of a group). For questions in the rows of a group it is `option` or `text` (`value`), `span` (`from`, `to`) or `answered`; one matching row is enough.',
    examples: ['{"element":"photo","by":"file","value":"Images"}'],
  }),
);

/** @throws ApiError bad_request if it is not valid. */
export function parseSummaryBar(sent: string): SummaryBar {
  let counted: unknown;
  try {
    counted = normalizeJson(JSON.parse(sent));
  } catch {
    throw refuse('must be JSON');
  }
  if (!check.Check(counted)) throw refuse('does not match a bar of the summary');
  const problem = jsonStorageProblem(counted, { values: 0, markup: 0 });
  if (problem) throw refuse(problem);
  return counted;
}

const refuse = (problem: string): ApiError => {
  const message = `"counted" ${problem}.`;
  return new ApiError('bad_request', message, { errors: [{ field: 'counted', message }] });
};

/**
 * Returns a JSON path that matches the submissions that the bar counts.
 * @param versions the live version and the versions that were answered.
 * @param answers the path of the answers: `$`, or a path below it.
 * @throws ApiError bad_request for an element that no version has.
 */
export function summaryBarPath(counted: SummaryBar, versions: readonly Form[], answers: string): string {
  const placed = versions
    .flatMap((form) => formIndexOf(form).byId.get(counted.element) ?? [])
    .find(({ element: found }) =>
      counted.by === 'rows' ? isComposite(found) && isRepeatable(found) : isInput(found),
    );
  if (!placed)
    throw refuse(
      `names ${quote(counted.element)}, which no version of the form has as this kind of question`,
    );
  const { group } = placed;
  const rows = group ? `.${JSON.stringify(group.attrs.id)}[*]` : '';
  const place = `${answers}${rows}.${JSON.stringify(counted.element)}`;
  switch (counted.by) {
    case 'rows':
      return `exists(${place}.size() ? (@ >= ${counted.from} && @ <= ${counted.to}))`;
    case 'first':
      return `exists(${place}[0] ? (@ == ${JSON.stringify(counted.value)}))`;
    case 'option':
      return `exists(${place} ? (@ == ${JSON.stringify(counted.value)}))`;
    case 'text':
      return `exists(${place} ? (${sameTextPath(counted.value)}))`;
    case 'span':
      return `exists(${place} ? (@ >= ${JSON.stringify(counted.from)} && @ <= ${JSON.stringify(counted.to)}))`;
    case 'answered':
      return `exists(${place})`;
    case 'file': {
      const kind = contentTypesOfKind(counted.value);
      if (!kind) throw refuse('has a "value" that is not a kind of file');
      const isOne = kind.patterns.map((pattern) => likeRegexPath(pattern)).join(' || ');
      return `exists(${place}.content_type ? (${kind.isOther ? `!(${isOne})` : isOne}))`;
    }
    default:
      return counted satisfies never;
  }
}
