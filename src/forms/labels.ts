import { Type } from 'typebox';
import { isCleanText, trimText } from '#ast/basics/text.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { operation } from '#kit/operation.ts';
import { statement } from '#kit/statement.ts';

/** The maximum number of labels per form, and the maximum length of a label. Tags of submissions have the same. */
export const mostLabels = 20;
export const longestLabel = 50;

/** Labels or tags in a request. */
export const Labels = Type.Array(Type.String({ minLength: 1, maxLength: longestLabel }), {
  maxItems: mostLabels,
});
export const labelsShape = Type.Optional({
  ...Labels,
  description: `Replaces the labels, which organize the forms of a workspace. Up to ${mostLabels} labels of up to ${longestLabel} characters.`,
});
export const labelFilter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: longestLabel,
    description: 'Only forms with this label. Case-sensitive.',
  }),
);

/**
 * Normalizes labels or tags for storage: removes invisible characters at their ends, and duplicates that
 * differ only in case. The order stays unchanged.
 * @throws ApiError validation_error, with the index of each invalid one.
 */
export function normalizeLabels(given: readonly string[], noun: 'label' | 'tag' = 'label'): string[] {
  const labels = given.map((label) => trimText(label.replaceAll(/\s+/g, ' ')));
  const errors = labels.flatMap((label, index) =>
    label === '' || !isCleanText(label) || /\p{Cc}/u.test(label)
      ? [{ field: `${noun}s.${index}`, message: `A ${noun} must be one line of text that is not blank.` }]
      : [],
  );
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
  const byName = Map.groupBy(labels, (label) => label.toLowerCase());
  return [...byName.values()].map(([first]) => first!);
}

/** Selects the labels of a workspace's forms, most used first. */
const listLabels = statement('workspace_id form_ids? limit', 'label count')`
  select label, count(*) as count from forms f cross join unnest(f.labels) as label
  where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))
  group by label order by count desc, label limit $limit`;

/** The maximum number of labels that are listed. */
const shownLabels = 200;

/** Operation that lists the labels of forms. Labels are set by changing forms. */
export const labelEndpoints = ({ database }: { database: Database }) => ({
  listLabels: operation({
    summary: 'List labels',
    description: `Returns the labels of forms, most used first, up to ${shownLabels}.`,
    permission: 'forms:read',
    reply: {
      status: 200,
      description: 'The labels, each with its number of forms.',
      schema: Type.Object({ data: Type.Array(Type.Object({ label: Type.String(), count: Type.Integer() })) }),
    },
    async run({ workspaceId, formIds }) {
      const filter = { workspace_id: workspaceId, form_ids: formIds && [...formIds], limit: shownLabels };
      return { body: { data: await listLabels(database, filter) } };
    },
  }),
});
