import { type Static, Type } from 'typebox';
import { listOf, named } from '#kit/pagination.ts';
import { failedReason, orNull, timestamp, uuid } from '#kit/validation.ts';
import { countedKinds, erasedKinds } from './erase/receipt.ts';
import { traceKinds } from './traces.ts';
import { submissionStatuses } from '#submissions/present.ts';

/** Something that is kept of a person. */
export const PersonTrace = named(
  'PersonTrace',
  Type.Object({
    kind: Type.Enum([...traceKinds], {
      description: "An `event` is what was told of a submission that is gone; its id is the submission's.",
    }),
    id: uuid,
    form_id: orNull(uuid),
    form_name: orNull(Type.String()),
    created_at: timestamp,
    status: orNull(Type.Enum([...submissionStatuses])),
    is_trashed: Type.Boolean(),
    places: Type.Array(Type.String(), {
      description:
        'Where in it, in words: labels of questions, and the like. Empty where the search found it.',
    }),
  }),
);
export type PersonTrace = Static<typeof PersonTrace>;

/** A page of it, with how much there is of each form. */
export const PersonPage = Type.Object({
  ...listOf(PersonTrace).properties,
  forms: Type.Array(
    Type.Object({
      form_id: orNull(uuid),
      form_name: orNull(Type.String()),
      count: Type.Integer(),
    }),
    { description: 'How much is found of each form, the most first; null is what is about none.' },
  ),
  is_partial: Type.Boolean({ description: 'More is found than is looked at.' }),
});

/** An erasing, and its receipt when it is finished. */
export const Erasure = named(
  'Erasure',
  Type.Object({
    id: uuid,
    what: Type.Enum([...erasedKinds]),
    requested_by: orNull(Type.String()),
    total: Type.Integer({ description: 'How much was found and is to go.' }),
    done: Type.Integer(),
    gone: Type.Object(
      Object.fromEntries(countedKinds.map((kind) => [kind, Type.Integer()])) as Record<
        (typeof countedKinds)[number],
        ReturnType<typeof Type.Integer>
      >,
      {
        description:
          'How much of each kind is gone. `stripped` are submissions that keep their other answers.',
      },
    ),
    list_hash: Type.String({
      description: 'SHA-256 of what was found: the lines `kind id`, sorted, each with its line break.',
    }),
    hash: orNull(
      Type.String({
        description:
          'SHA-256 of the receipt, as JSON without blanks: id, what, created_at, finished_at, gone, list_hash. Null until it is finished.',
      }),
    ),
    created_at: timestamp,
    finished_at: orNull(timestamp),
    failed_reason: failedReason,
  }),
);
export type Erasure = Static<typeof Erasure>;
