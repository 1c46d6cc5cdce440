import { type Static, Type } from 'typebox';
import { attachment } from '#kit/attachment.ts';
import { newId, now, timeOfId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { named } from '#kit/named.ts';
import { idParameter, operation, type Scope } from '#kit/operation.ts';
import { enqueueJob } from '#kit/queue.ts';
import { closed, orNull } from '#kit/schemas.ts';
import { requireRow } from '#kit/statement.ts';
import { wired } from '#kit/wire.ts';
import { oneOfFew } from '#submissions/export/one-of-few.ts';
import { personOf } from '#workspaces/actor.ts';
import { findWorkspace } from '#workspaces/members/queries.ts';
import { requireWholeWorkspace } from '#workspaces/reach.ts';
import { type BringContext, workspaceImportJob } from './bring/bring-workspace.ts';
import { workspaceLimits } from './limits.ts';
import { packWorkspace } from './pack/pack-workspace.ts';
import { requireParts, storePart } from './parts.ts';
import {
  findWorkspaceImport,
  giveUpReceiving,
  insertWorkspaceImport,
  listWorkspaceImports,
  startReceived,
} from './queries.ts';
import { Counts, noCounts } from './shapes.ts';

const gzip = ['application/gzip'] as const;
/** A program may recognise the first part as what it is the beginning of. */
const aPart = ['application/octet-stream', 'application/gzip'] as const;

/** So many of the latest imports are listed. */
const shownImports = 10;

const WorkspaceImport = named(
  'WorkspaceImport',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    state: Type.Enum(['receiving', 'running', 'done', 'failed'], {
      description:
        'Parts are awaited; it is taken in; all of it is there; or nothing is, as something is wrong with the file.',
    }),
    keeps_ids: Type.Boolean(),
    part_bytes: Type.Integer({ description: 'A part has so many bytes at most.' }),
    parts: Type.Integer({ description: 'So many came.' }),
    bytes: Type.Integer({ description: 'Of these.' }),
    made: Counts,
    left_out: Type.Array(Type.Object({ what: Type.String(), why: Type.String() }), {
      description: 'What was not taken over, or not wholly, and why; the first 500.',
    }),
    problem: orNull(Type.String({ description: 'Why it failed.' })),
    requested_by: orNull(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
    finished_at: orNull(Type.String({ format: 'date-time' })),
  }),
);

type Row = Awaited<ReturnType<typeof findWorkspaceImport>>[number];
const present = ({ entries: _entries, form_ids: _ids, made, ...row }: Row): Static<typeof WorkspaceImport> =>
  wired({ ...row, part_bytes: workspaceLimits.partBytes, made: { ...noCounts, ...made } });

/** A workspace in one file, and back (docs/decisions/0080-a-workspace-in-one-file.md). */
export function workspacePackageEndpoints(context: BringContext) {
  const { database } = context;
  const read = async ({ workspaceId }: Scope, id: string) => {
    const row = requireRow(await findWorkspaceImport(database, { workspace_id: workspaceId, id }));
    return { body: present(row) };
  };
  const reply = { description: 'How far it is.', schema: WorkspaceImport };

  return {
    packWorkspace: operation({
      summary: 'Pack workspace',
      description: `All forms with their versions, images and webhooks without secrets, and all that hangs on them: submissions with files, tags, notes and histories, also in the trash and the spam box, saved views, invitations, counts of visits. A tar file, packed with gzip. Members, keys, passwords, the logs of deliveries and mails and the audit log are not in it.`,
      permission: 'everything:read',
      reply: { status: 200, description: 'The file.', content: gzip },
      async run(scope) {
        requireWholeWorkspace(scope.formIds);
        const { workspaceId, actor } = scope;
        const found = requireRow(
          await findWorkspace(database, { workspace_id: workspaceId, user_id: personOf(actor) }),
        );
        return {
          headers: { ...attachment(found.name, '.workspace.tar.gz'), 'Content-Type': gzip[0] },
          stream: oneOfFew(workspaceId, () => packWorkspace(context, found)),
        };
      },
    }),

    beginWorkspaceImport: operation({
      summary: 'Begin workspace import',
      description: `The beginning of bringing in what Pack workspace made: then come its parts (Add workspace part), and Start workspace import. Everything comes beside what is here, under new ids; only the command line of the machine may keep those of before. 409: another import runs; one whose parts have not all come is given up.`,
      permission: 'everything:write',
      body: Type.Object({ ids: Type.Optional(Type.Enum(['new', 'keep'], { default: 'new' })) }, closed),
      isBodyOptional: true,
      example: { body: {} },
      errors: ['conflict'],
      reply: { status: 201, ...reply },
      async run({ body, ...scope }) {
        requireWholeWorkspace(scope.formIds);
        const keepsIds = body.ids === 'keep';
        // Whoever knew the id of a form that somebody else deleted would else get its visitors.
        if (keepsIds && scope.actor.kind !== 'operator')
          throw new ApiError('forbidden', 'Only the command line on the machine of the service keeps ids.');
        const id = newId();
        const place = { workspace_id: scope.workspaceId };
        await transaction(database, async (client) => {
          const problem = 'Another import was begun before all of the file had come.';
          await giveUpReceiving(client, { ...place, problem, now: now() });
          const [begun] = await insertWorkspaceImport(client, {
            ...place,
            id,
            keeps_ids: keepsIds,
            requested_by: personOf(scope.actor),
            created_at: timeOfId(id),
          });
          if (!begun)
            throw new ApiError('conflict', 'Another import into this workspace runs. It ends first.');
        });
        return read(scope, id);
      },
    }),

    addWorkspacePart: operation({
      summary: 'Add workspace part',
      description: `The next ${workspaceLimits.partBytes / 1024 / 1024} MB of the file, or its rest; parts are numbered from 1. One that is sent again takes the place of the first.`,
      permission: 'everything:write',
      params: Type.Object({
        id: Type.String({ format: 'uuid' }),
        number: Type.Integer({ minimum: 1, maximum: workspaceLimits.parts }),
      }),
      bodyContent: aPart,
      bodyLimit: workspaceLimits.partBytes,
      example: { body: Buffer.from('a part') },
      errors: ['conflict', 'service_unavailable'],
      reply: { status: 200, ...reply },
      async run({ params, body, ...scope }) {
        requireWholeWorkspace(scope.formIds);
        await storePart(
          context,
          { workspaceId: scope.workspaceId, importId: params.id },
          params.number,
          body,
        );
        return read(scope, params.id);
      },
    }),

    startWorkspaceImport: operation({
      summary: 'Start workspace import',
      description:
        'All parts are here. What they say is taken in step by step, and nobody finds any of it before all is; where something is wrong with the file, nothing of it stays. Nobody is told: no webhook and no mail. 409: a part is missing, or it was started before.',
      permission: 'everything:write',
      params: idParameter,
      errors: ['conflict'],
      reply: { status: 202, ...reply },
      async run({ params, ...scope }) {
        requireWholeWorkspace(scope.formIds);
        const place = { workspaceId: scope.workspaceId, importId: params.id };
        const found = await read(scope, params.id);
        if (found.body.state === 'receiving') await requireParts(context, place);
        await transaction(database, async (client) => {
          const [started] = await startReceived(client, { workspace_id: scope.workspaceId, id: params.id });
          if (!started) throw new ApiError('conflict', 'It was started before.');
          await enqueueJob(client, {
            workspace_id: scope.workspaceId,
            id: newId(),
            kind: workspaceImportJob,
            lane: `${workspaceImportJob} ${scope.workspaceId}`,
            payload: { import: params.id },
            delay: 0,
          });
        });
        context.wakeQueue();
        return read(scope, params.id);
      },
    }),

    getWorkspaceImport: operation({
      summary: 'Get workspace import',
      permission: 'everything:write',
      params: idParameter,
      reply: { status: 200, ...reply },
      async run({ params, ...scope }) {
        requireWholeWorkspace(scope.formIds);
        return read(scope, params.id);
      },
    }),

    listWorkspaceImports: operation({
      summary: 'List workspace imports',
      description: `The ${shownImports} latest, newest first.`,
      permission: 'everything:write',
      reply: {
        status: 200,
        description: 'How far they are.',
        schema: Type.Object({ data: Type.Array(WorkspaceImport) }),
      },
      async run({ workspaceId, formIds }) {
        requireWholeWorkspace(formIds);
        const rows = await listWorkspaceImports(database, { workspace_id: workspaceId, limit: shownImports });
        return { body: { data: rows.map(present) } };
      },
    }),
  };
}
