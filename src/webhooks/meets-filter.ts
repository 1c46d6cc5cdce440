import type { FieldDescription } from '#ast/describe.ts';
import type { InputType } from '#ast/elements.ts';
import { own } from '#ast/json.ts';
import { isTrue } from '#ast/logic/compare.ts';
import { type Condition, holds } from '#ast/logic/condition.ts';
import type { Snapshot } from './event.ts';

/** What a filter looks at: the submission as the event tells of it, and the fields of the version that it answered. */
export type Filtered = {
  snapshot: Snapshot;
  fields: Readonly<Record<string, Pick<FieldDescription, 'type'>>>;
};

/**
 * Whether an event is one that a webhook's filter lets through (docs/decisions/0025). What the version that was
 * answered does not ask counts as unanswered. Pure; never throws.
 * @param today YYYY-MM-DD in the form's time zone.
 */
export function meetsFilter(filter: Condition, { snapshot, fields }: Filtered, today: string): boolean {
  const { responses, file_uploads: uploads, reference_data: reference } = snapshot.submission;
  return holds(filter, (comparison) => {
    if ('reference' in comparison) {
      return isTrue(comparison, own(reference, comparison.reference), undefined, today);
    }
    const id = comparison.element;
    const type = own(fields, id)?.type;
    // Files in rows are those of the rows; the filter asks for an answer outside of them.
    if (type === 'file_upload') {
      const files = own(uploads, id)?.filter(({ row }) => row === undefined);
      return isTrue(comparison, files, { type }, today);
    }
    // A group has a list of rows, of which is only asked whether it is there.
    const input = type === undefined || type === 'composite' ? undefined : { type: type as InputType };
    return isTrue(comparison, type && own(responses, id), input, today);
  });
}
