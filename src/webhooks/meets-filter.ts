import type { FieldDescription } from '#ast/describe.ts';
import { inputRules, isInputType, takesFiles } from '#ast/input-rules.ts';
import { own } from '#ast/json.ts';
import { type Given, give, isRowTrue, isTrue } from '#ast/logic/compare.ts';
import { type Condition, holds } from '#ast/logic/condition.ts';
import type { Work } from '#ast/work.ts';
import type { Snapshot } from './event.ts';

/** What a filter looks at: the submission as the event tells of it, and the fields of the version that it answered. */
export type Filtered = {
  snapshot: Snapshot;
  fields: Readonly<Record<string, Pick<FieldDescription, 'type'>>>;
};

/** What is known of an event beside its filter: the work that may be done, and what filters before have looked at. */
type FilterContext = {
  /** YYYY-MM-DD in the form's time zone. */
  readonly today: string;
  readonly work: Work;
  /** By the name that a comparison has: that of an element, or behind a `?` that of a reference value. */
  readonly given: Map<string, Given>;
};

/**
 * Whether an event is one that a webhook's filter lets through (docs/decisions/0025). What the version that was
 * answered does not ask counts as unanswered. @throws TooMuchWork
 */
export function meetsFilter(
  filter: Condition,
  { snapshot, fields }: Filtered,
  context: FilterContext,
): boolean {
  const { responses, file_uploads: uploads, reference_data: reference } = snapshot.submission;
  const recall = (name: string, find: () => unknown): Given => {
    const given = context.given.get(name) ?? give(find());
    context.given.set(name, given);
    return given;
  };
  return holds(filter, (comparison) => {
    if ('reference' in comparison) {
      const name = comparison.reference;
      return isTrue(
        comparison,
        recall(`?${name}`, () => own(reference, name)),
        undefined,
        context,
      );
    }
    const id = comparison.element;
    const type = own(fields, id)?.type;
    // Files in rows are those of the rows; the filter asks for an answer outside of them.
    // A group has a list of rows, of which is only asked whether it is there.
    const input = type !== undefined && isInputType(type) ? inputRules[type] : undefined;
    if (takesFiles(type)) {
      const files = recall(id, () => own(uploads, id)?.filter(({ row }) => row === undefined));
      return isTrue(comparison, files, input, context);
    }
    return isRowTrue(
      comparison,
      recall(id, () => type && own(responses, id)),
      input,
      context,
    );
  });
}
