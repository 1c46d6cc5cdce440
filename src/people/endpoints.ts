import { type Static, Type } from 'typebox';
import { sayNumber } from '#ast/say-number.ts';
import { attachment } from '#kit/attachment.ts';
import { belowId, endCut, lastId, listOf, listParameters, readCut } from '#kit/pagination.ts';
import { idParameter, operation, type Scope } from '#kit/operation.ts';
import { closed, uuid } from '#kit/validation.ts';
import { columns, jsonb, requireRow, statement, word } from '#kit/statement.ts';
import { wired } from '#kit/http.ts';
import { requireWholeWorkspace } from '#workspaces/authenticate.ts';
import { askedLengths, readAsked } from './asked.ts';
import { type EraseContext, startErasing } from './erase/erase-person.ts';
import { type ErasedCounts, type ErasedKind, erasedKinds, everyCount } from './erase/receipt.ts';
import { packPerson } from './pack-person.ts';
import { Erasure, PersonPage } from './shapes.ts';
import { findTraces, matches, mostTraces, type Trace } from './traces.ts';
import { failedReason } from '#kit/queue/park-job.ts';

const erasureColumns = columns(
  'id requested_by? total:integer done list_hash hash:text? created_at finished_at?',
  'failed_reason?',
  { what: word<ErasedKind>(), gone: jsonb<ErasedCounts>() },
);

/** The erasings of a workspace, newest first, with the name of the member or the key that asked. */
export const listErasures = statement(
  'people.list_erasures',
  'workspace_id id? below_id limit offset',
  erasureColumns,
  `select e.id, e.what, coalesce(u.name, k.name) as requested_by, e.total, e.done, e.gone, e.list_hash, e.hash, e.created_at,
          e.finished_at, ${failedReason('e', 'erasure_id')} as failed_reason
   from erasures e
   left join users u on u.id = e.requested_by
   left join api_keys k on k.workspace_id = e.workspace_id and k.id = e.api_key_id
   where e.workspace_id = $workspace_id and ($id is null or e.id = $id) and e.id < $below_id
   order by e.id desc limit $limit offset $offset`,
);

const countErasures = statement(
  'people.count_erasures',
  'workspace_id',
  'total',
  `select count(*) as total from erasures where workspace_id = $workspace_id`,
);

const gzip = ['application/gzip'] as const;

const personParameters = {
  q: Type.String({
    minLength: askedLengths.least,
    maxLength: askedLengths.most,
    description: 'A mail address, a phone number, or another answer.',
  }),
  match: Type.Optional(
    Type.Enum([...matches], {
      default: 'exact',
      description:
        '`exact`: everything that says just this, whatever its case, or holds this address or number; `words`: submissions that the search finds.',
    }),
  ),
};

/** Of what is found, what is somebody else's. */
const mostExcepted = 100;

/** Everything that is kept of one person: found, given out, and erased (docs/decisions/0072-erasing-a-person.md). */
export function peopleEndpoints(context: EraseContext) {
  const { database } = context;

  const find = ({ workspaceId, formIds }: Scope, { q, match = 'exact' }: Static<typeof Question>) => {
    requireWholeWorkspace(formIds);
    return findTraces(database, workspaceId, readAsked(q), match);
  };

  const readErasures = async (
    workspaceId: string,
    page: { id: string | null; below_id: string; limit: number; offset: number },
  ) =>
    (await listErasures(database, { workspace_id: workspaceId, ...page })).map((row) =>
      wired({ ...row, gone: everyCount(row.gone) }),
    );

  return {
    findPerson: operation({
      summary: 'Find person',
      command: 'people find',
      description: `What is kept of a person in all forms, newest first: submissions, also in the trash, spam, invitations, mails, and what was told of submissions that are gone. The first ${sayNumber(mostTraces)}.`,
      permission: 'people:read',
      query: Type.Object({ ...personParameters, ...listParameters }, closed),
      example: { query: { q: 'grace@example.org' } },
      reply: {
        status: 200,
        description: 'A page of it, and how much there is of each form.',
        schema: PersonPage,
      },
      async run({ query, ...scope }) {
        const cut = readCut(query, 'people');
        const { traces, isPartial } = await find(scope, query);
        const behind = cut.after === null ? traces : traces.filter(({ id }) => id < belowId(cut));
        const { rows, ends } = endCut(cut, behind.slice(cut.offset, cut.offset + cut.limit), traces.length);
        return { body: wired({ data: [...rows], ...ends, forms: formsOf(traces), is_partial: isPartial }) };
      },
    }),

    exportPerson: operation({
      summary: 'Export person',
      command: 'people export',
      description:
        'What is kept of a person as one archive: answers as JSON and as text, files, history, deliveries, mails and invitations. Of very much, what Find person lists.',
      permission: 'people:read',
      query: Type.Object(
        {
          ...personParameters,
          except: Type.Optional(
            Type.String({
              pattern: `^[0-9a-f-]{36}(,[0-9a-f-]{36}){0,${mostExcepted - 1}}$`,
              description: `Ids of what is found and is somebody else's, with commas between them: ${mostExcepted} at most.`,
            }),
          ),
        },
        closed,
      ),
      example: { query: { q: 'grace@example.org' } },
      reply: { status: 200, description: 'The archive.', content: gzip },
      async run({ query: { except = '', ...question }, ...scope }) {
        const { traces } = await find(scope, question);
        const others = except.split(',');
        const own = traces.filter(({ id }) => !others.includes(id));
        return {
          headers: { ...attachment('person', '.tar.gz'), 'Content-Type': gzip[0] },
          stream: packPerson(context, scope.workspaceId, own),
        };
      },
    }),

    erasePerson: operation({
      summary: 'Erase person',
      command: 'people erase',
      description:
        'Erases what is found of a person now, in the background and for good, wherever it is: with its files, history, events, deliveries and mails. `identity` leaves submissions, without the answers that tell who somebody is. Webhooks hear `submission.deleted` without answers, or `submission.updated` with those that stay. Backups are as they are. 409: it is not as much as `expected`.',
      permission: 'people:write',
      body: Type.Object(
        {
          ...personParameters,
          what: Type.Enum([...erasedKinds]),
          except: Type.Optional(Type.Array(uuid, { maxItems: mostExcepted })),
          expected: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        closed,
      ),
      example: { body: { q: 'grace@example.org', what: 'submissions' } },
      errors: ['conflict'],
      isDestructive: true,
      reply: { status: 202, description: 'The erasing, on its way.', schema: Erasure },
      async run({ body, ...scope }) {
        const { workspaceId, formIds, actor } = scope;
        requireWholeWorkspace(formIds);
        const { q, match = 'exact', what, except = [], expected } = body;
        const id = await startErasing(context, workspaceId, { q, match, what, except, expected, by: actor });
        return { body: (await readErasures(workspaceId, { id, below_id: lastId, limit: 1, offset: 0 }))[0]! };
      },
    }),

    listErasures: operation({
      summary: 'List erasures',
      command: 'people erasures',
      description: 'The receipts of what was erased, newest first, and what is on its way.',
      permission: 'people:read',
      query: Type.Object(listParameters, closed),
      reply: { status: 200, description: 'A page of erasures.', schema: listOf(Erasure) },
      async run({ workspaceId, formIds, query }) {
        requireWholeWorkspace(formIds);
        const cut = readCut(query, 'erasures');
        const page = { id: null, below_id: belowId(cut), limit: cut.limit, offset: cut.offset };
        const rows = await readErasures(workspaceId, page);
        const total = cut.total ?? (await countErasures(database, { workspace_id: workspaceId }))[0]!.total;
        const { rows: data, ends } = endCut(cut, rows, total);
        return { body: { data: [...data], ...ends } };
      },
    }),

    getErasure: operation({
      summary: 'Get erasure',
      command: 'people erasure',
      description: 'How far it is, and its receipt when it is finished.',
      permission: 'people:read',
      params: idParameter,
      reply: { status: 200, description: 'The erasure.', schema: Erasure },
      async run({ workspaceId, formIds, params }) {
        requireWholeWorkspace(formIds);
        const one = { id: params.id, below_id: lastId, limit: 1, offset: 0 };
        const found = requireRow(await readErasures(workspaceId, one));
        return { body: found };
      },
    }),
  };
}

const Question = Type.Object(personParameters);

/** How much there is of each form, the most first. */
const formsOf = (traces: readonly Trace[]) =>
  [...Map.groupBy(traces, ({ form_id }) => form_id)]
    .map(([form_id, some]) => ({ form_id, form_name: some[0]!.form_name, count: some.length }))
    .toSorted((a, b) => b.count - a.count);
