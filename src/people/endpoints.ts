import { type Static, Type } from 'typebox';
import { formatWholeNumber } from '#ast/basics/format-number.ts';
import { asWireValue, attachmentHeader } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import {
  finishPage,
  listParameters,
  listSchemaOf,
  namedObject,
  readPageRequest,
  upperIdBound,
} from '#kit/pagination.ts';
import { failedReasonSchema, orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { submissionStatuses } from '#submissions/present.ts';
import { readTask, readTaskPage, type TaskRow } from '#tasks/read-tasks.ts';
import { requireWorkspaceAccess } from '#workspaces/authenticate.ts';
import { type EraseServices, startErasing } from './erase-person.ts';
import { streamPersonArchive } from './person-archive.ts';
import {
  findPersonRecords,
  matchKinds,
  mostPersonRecords,
  type PersonRecord,
  personRecordKinds,
} from './person-records.ts';
import { parsePersonSearch, personSearchLengths } from './person-search.ts';
import {
  countedKinds,
  type ErasureInput,
  type ErasureResult,
  erasureScopes,
  withZeroCounts,
} from './receipt.ts';

const PersonTrace = namedObject('PersonTrace', {
  kind: Type.Enum([...personRecordKinds], {
    description:
      "The kind of record. An `event` is an event of a deleted submission, and its id is the submission's id.",
  }),
  id: uuidSchema,
  form_id: orNull(uuidSchema),
  form_name: orNull(Type.String()),
  created_at: timestampSchema,
  status: orNull(Type.Enum([...submissionStatuses])),
  is_trashed: Type.Boolean(),
  places: Type.Array(Type.String(), {
    description:
      'Where the person was found, such as question labels. Empty if the full-text search found the record.',
  }),
});
type PersonTrace = Static<typeof PersonTrace>;

/** A page of records, with the number of records in each form. */
const PersonPage = Type.Object({
  ...listSchemaOf(PersonTrace).properties,
  forms: Type.Array(
    Type.Object({ form_id: orNull(uuidSchema), form_name: orNull(Type.String()), count: Type.Integer() }),
    {
      description:
        'The number of records in each form, largest first; `null` stands for records without a form.',
    },
  ),
  is_partial: Type.Boolean({ description: 'True if there are more records than the limit.' }),
});

/** An erasure, with its receipt when it has finished. */
const Erasure = namedObject('Erasure', {
  id: uuidSchema,
  what: Type.Enum([...erasureScopes]),
  requested_by: orNull(Type.String()),
  total: Type.Integer({ description: 'The number of records to erase.' }),
  done: Type.Integer(),
  gone: Type.Object(
    Object.fromEntries(countedKinds.map((kind) => [kind, Type.Integer()])) as Record<
      (typeof countedKinds)[number],
      ReturnType<typeof Type.Integer>
    >,
    {
      description:
        'The number of erased records of each kind. `stripped` submissions keep their other answers.',
    },
  ),
  list_hash: Type.String({
    description: 'SHA-256 of the list of records: sorted lines `kind id`, each followed by a line break.',
  }),
  hash: orNull(
    Type.String({
      description:
        'SHA-256 of the receipt as JSON without whitespace, with these keys in this order: id, what, created_at, finished_at, gone, list_hash. Null until the erasure has finished.',
    }),
  ),
  created_at: timestampSchema,
  finished_at: orNull(timestampSchema),
  failed_reason: failedReasonSchema,
});
type Erasure = Static<typeof Erasure>;

/** Returns the filter of a workspace's erasures in its tasks. */
export const erasureTaskFilter = (workspaceId: string) =>
  ({ workspace_id: workspaceId, kinds: ['people.erase'] }) as const;

/** Presents a task as an erasure. */
export function presentErasure({ input, result, ...task }: TaskRow) {
  const { gone, list_hash, hash = null } = result as ErasureResult;
  return {
    id: task.id,
    what: (input as ErasureInput).what,
    requested_by: task.member_name ?? task.key_name,
    total: task.total,
    done: task.done,
    gone: withZeroCounts(gone),
    list_hash,
    hash,
    created_at: task.created_at,
    finished_at: task.finished_at,
    failed_reason: task.failed_reason,
  };
}

const gzip = ['application/gzip'] as const;

const personParameters = {
  q: Type.String({
    minLength: personSearchLengths.least,
    maxLength: personSearchLengths.most,
    description: 'An email address, a phone number, or another answer.',
  }),
  match: Type.Optional(
    Type.Enum([...matchKinds], {
      default: 'exact',
      description:
        '`exact`: answers that equal the term, ignoring case, or contain it if it is an email address or a number. `words`: submissions that a full-text search for the term finds.',
    }),
  ),
};

/** The maximum number of records that can be excluded because they belong to another person. */
const mostExcepted = 100;

/** Operations that find, export and erase the data of a person (docs/decisions/0072-erasing-a-person.md). */
export function peopleEndpoints(context: EraseServices) {
  const { database } = context;

  const find = ({ workspaceId, formIds }: RequestScope, { q, match = 'exact' }: Static<typeof Question>) => {
    requireWorkspaceAccess(formIds);
    return findPersonRecords(database, workspaceId, parsePersonSearch(q), match);
  };

  const readErasure = async (workspaceId: string, id: string) =>
    asWireValue(presentErasure(await readTask(database, { ...erasureTaskFilter(workspaceId), id })));

  return {
    findPerson: operation({
      summary: 'Find person',
      command: 'people find',
      description: `Returns the data of a person in all forms, newest first: submissions (including the trash), spam, invitations, emails, and events of deleted submissions. Limit: ${formatWholeNumber(mostPersonRecords)} records.`,
      permission: 'people:read',
      audit: 'entry by people',
      query: strictObject({ ...personParameters, ...listParameters }),
      example: { query: { q: 'grace@example.org' } },
      reply: {
        status: 200,
        description: 'A page of records, and the number of records in each form.',
        schema: PersonPage,
      },
      async run({ query, ...scope }) {
        const cut = readPageRequest(query, 'people');
        const { records, isPartial } = await find(scope, query);
        const behind = cut.after === null ? records : records.filter(({ id }) => id < upperIdBound(cut));
        const { rows, ends } = finishPage(
          cut,
          behind.slice(cut.offset, cut.offset + cut.limit),
          records.length,
        );
        return {
          body: asWireValue({ data: [...rows], ...ends, forms: formsOf(records), is_partial: isPartial }),
        };
      },
    }),

    exportPerson: operation({
      summary: 'Export person',
      command: 'people export',
      description:
        'Returns the data of a person as one archive: answers as JSON and as text, files, history, deliveries, emails and invitations. The limit of Find person applies.',
      permission: 'people:read',
      audit: 'entry',
      query: strictObject({
        ...personParameters,
        except: Type.Optional(
          Type.String({
            pattern: `^[0-9a-f-]{36}(,[0-9a-f-]{36}){0,${mostExcepted - 1}}$`,
            description: `Ids of records that belong to another person, separated by commas: at most ${mostExcepted}.`,
          }),
        ),
      }),
      example: { query: { q: 'grace@example.org' } },
      reply: { status: 200, description: 'The archive.', content: gzip },
      async run({ query: { except = '', ...question }, ...scope }) {
        const { records } = await find(scope, question);
        const others = except.split(',');
        const own = records.filter(({ id }) => !others.includes(id));
        return {
          headers: { ...attachmentHeader('person', '.tar.gz'), 'Content-Type': gzip[0] },
          stream: streamPersonArchive(context, scope.workspaceId, own),
        };
      },
    }),

    erasePerson: operation({
      summary: 'Erase person',
      command: 'people erase',
      description:
        'Permanently deletes the data of a person in the background, with its files, history, events, deliveries and emails. With `identity`, submissions are kept without the answers that identify the person. Webhooks receive `submission.deleted` without answers, or `submission.updated` with the remaining ones. Backups do not change. 409 if the number of records differs from `expected`.',
      permission: 'people:write',
      audit: { fields: ['what', 'match'] },
      body: strictObject({
        ...personParameters,
        what: Type.Enum([...erasureScopes]),
        except: Type.Optional(Type.Array(uuidSchema, { maxItems: mostExcepted })),
        expected: Type.Optional(Type.Integer({ minimum: 1 })),
      }),
      example: { body: { q: 'grace@example.org', what: 'submissions' } },
      errors: ['conflict'],
      isDestructive: true,
      reply: { status: 202, description: 'The erasure has started.', schema: Erasure },
      async run({ body, ...scope }) {
        const { workspaceId, formIds, actor } = scope;
        requireWorkspaceAccess(formIds);
        const { q, match = 'exact', what, except = [], expected } = body;
        const id = await startErasing(context, workspaceId, { q, match, what, except, expected, by: actor });
        return { body: await readErasure(workspaceId, id) };
      },
    }),

    listErasures: operation({
      summary: 'List erasures',
      command: 'people erasures',
      description: 'Returns running erasures and the receipts of finished ones, newest first.',
      permission: 'people:read',
      query: strictObject(listParameters),
      reply: { status: 200, description: 'A page of erasures.', schema: listSchemaOf(Erasure) },
      async run({ workspaceId, formIds, query }) {
        requireWorkspaceAccess(formIds);
        const cut = readPageRequest(query, 'erasures');
        const { rows, ends } = await readTaskPage(database, erasureTaskFilter(workspaceId), cut);
        return { body: { data: rows.map((row) => asWireValue(presentErasure(row))), ...ends } };
      },
    }),

    getErasure: operation({
      summary: 'Get erasure',
      command: 'people erasure',
      description: 'Returns the progress of an erasure, and its receipt when it has finished.',
      permission: 'people:read',
      params: idParameter,
      reply: { status: 200, description: 'The erasure.', schema: Erasure },
      async run({ workspaceId, formIds, params }) {
        requireWorkspaceAccess(formIds);
        return { body: await readErasure(workspaceId, params.id) };
      },
    }),
  };
}

const Question = Type.Object(personParameters);

/** Counts the records of each form, largest first. */
const formsOf = (records: readonly PersonRecord[]) =>
  [...Map.groupBy(records, ({ form_id }) => form_id)]
    .map(([form_id, some]) => ({ form_id, form_name: some[0]!.form_name, count: some.length }))
    .toSorted((a, b) => b.count - a.count);
