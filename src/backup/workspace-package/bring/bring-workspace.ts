import { createHash } from 'node:crypto';
import { recogniseType, storageKey, fileLimits, type FilesContext } from '#files/receive.ts';
import { setFileContent } from '#files/queries.ts';
import { readRoom } from '#files/room.ts';
import { removeFormJob } from '#forms/forms.ts';
import { whileFree } from '#kit/cells/servers/while-free.ts';
import { newId, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { completeJob, enqueueJob, type Job, LeaseLost } from '#kit/queue.ts';
import { only, type Queryable } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { compileCheck } from '#kit/validation.ts';
import { formInWorkspace, readJsonEntry, readManifest } from '../../form-package/package-file.ts';
import { type LeftOut, readForm, type UnpackContext, writeForm } from '../../form-package/unpack-form.ts';
import { readParts, requireParts } from '../parts.ts';
import { workspaceLimits } from '../limits.ts';
import { advanceWorkspaceImport, endWorkspaceImport, findWorkspaceImport } from '../queries.ts';
import { findBroughtFile, hideForm, insertUnsubscribed, showForms } from './queries.ts';
import { broken, bytesOf, type Entry, readEntries, skip } from './read-entries.ts';
import {
  type Counts,
  Ending,
  entryNames,
  FormState,
  noCounts,
  type RecordKind,
  recordKinds,
  Workspace,
} from '../shapes.ts';
import { writeRecords } from './write-records.ts';

/** The job that makes of a file what is in it. */
export const workspaceImportJob = 'workspace.import';

export type BringContext = UnpackContext &
  FilesContext & { vault: Vault; config: Pick<Config, 'limits'>; wakeQueue: () => void };

/** How much of what was not taken over is said. */
const mostLeftOut = 500;

const checks = {
  workspace: compileCheck(Workspace),
  state: compileCheck(FormState),
  ending: compileCheck(Ending),
};

/** The form whose entries are read. */
type Current = {
  /** Its id in the file, and here. */
  before: string;
  id: string;
  name: string;
  versionsLeftOut: number;
  /** Its package, until it is written. */
  entries: Map<string, Buffer>;
};

type Reading = {
  workspaceId: string;
  importId: string;
  idOf: (before: string) => string;
  keepsIds: boolean;
  job: Job;
  /** The number of the entry that is read; those up to `done` were taken in before. */
  entry: number;
  done: number;
  made: Counts;
  leftOut: LeftOut[];
  current: Current | undefined;
  ending: Ending | undefined;
};
type Ending = { counts: Counts; unsubscribed: object[] };

/**
 * Makes forms, submissions and all else of a file that came in parts. Each entry is written in one transaction with its
 * number, so a job that was cut off goes on behind it; forms are hidden until the last. What is wrong with the file ends
 * the import, and what was made of it is removed.
 */
export async function bringWorkspace(context: BringContext, job: Job, signal: AbortSignal): Promise<void> {
  const { import: importId } = job.payload as { import: string };
  const { workspaceId } = job;
  const row = only(await findWorkspaceImport(context.database, { workspace_id: workspaceId, id: importId }));
  if (row?.state !== 'running') return completeJob(context.database, job);
  const reading: Reading = {
    workspaceId,
    importId,
    keepsIds: row.keeps_ids,
    idOf: row.keeps_ids ? (before) => before : (before) => idAfter(importId, before),
    job,
    entry: 0,
    done: row.entries,
    made: { ...noCounts, ...row.made },
    leftOut: row.left_out,
    current: undefined,
    ending: undefined,
  };
  try {
    const parts = await requireParts(context, { workspaceId, importId });
    for await (const entry of readEntries(readParts(context, { workspaceId, importId }, parts))) {
      signal.throwIfAborted();
      reading.entry += 1;
      await takeIn(context, reading, entry);
    }
    await finish(context, reading);
  } catch (error) {
    // The database or the storage is away: the job comes back.
    if (!(error instanceof ApiError) || error.code === 'service_unavailable') throw error;
    await giveUp(context, reading, error);
  }
}

/**
 * Another id, the same whenever it is asked for in one import, so no list of them is kept. It begins as before, with the time
 * and the count within it, so that what is listed by ids is in the same order.
 */
const idAfter = (importId: string, before: string): string =>
  before.slice(0, 26) + createHash('sha256').update(`${importId} ${before}`).digest('hex').slice(0, 10);

const inFolder = /^forms\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(.+)$/;
const ofRecords = /^([a-z]+)\/\d{6}\.ndjson$/;
const ofFile = /^files\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

async function takeIn(context: BringContext, reading: Reading, entry: Entry): Promise<void> {
  if (reading.entry === 1) return begin(entry);
  if (reading.ending) throw broken(`${entry.name} stands behind its end`);
  if (entry.name === entryNames.ending) return readEnding(reading, entry);
  const [, folder, name] = inFolder.exec(entry.name) ?? [];
  if (folder === undefined || name === undefined) throw broken(`it holds ${entry.name}`);
  if (name === 'form.json') return beginForm(reading, folder, entry);
  const { current } = reading;
  if (current?.before !== folder) throw broken(`${entry.name} stands before its form`);
  if (reading.entry <= reading.done) return skip(entry);
  if (name.startsWith('images/') || name.startsWith('versions/')) return addEntry(current, name, entry);
  if (name === entryNames.state) return writeCurrent(context, reading, current, entry);
  const [, kind] = ofRecords.exec(name) ?? [];
  if (isKind(kind)) return addRecords(context, reading, current, kind, entry);
  const [, fileId] = ofFile.exec(name) ?? [];
  if (fileId !== undefined) return addFile(context, reading, current, fileId, entry);
  throw broken(`it holds ${entry.name}`);
}

const isKind = (kind: string | undefined): kind is RecordKind => recordKinds.some((each) => each === kind);

async function begin(entry: Entry): Promise<void> {
  if (entry.name !== entryNames.workspace) throw broken(`it begins with ${entry.name}`);
  readJsonEntry(entry.name, await bytesOf(entry, workspaceLimits.recordBytes), checks.workspace);
}

async function readEnding(reading: Reading, entry: Entry): Promise<void> {
  const bytes = await bytesOf(entry, workspaceLimits.recordBytes);
  const { unsubscribed, ...counts } = readJsonEntry(entry.name, bytes, checks.ending);
  reading.ending = { counts, unsubscribed };
}

async function beginForm(reading: Reading, before: string, entry: Entry): Promise<void> {
  const bytes = await bytesOf(entry, workspaceLimits.formBytes);
  const entries = new Map([['form.json', bytes]]);
  const { id, name, versions_left_out: versionsLeftOut } = readManifest(entries);
  if (id !== before) throw broken(`${entry.name} is of another form`);
  reading.current = { before, id: reading.idOf(before), name, versionsLeftOut, entries };
}

async function addEntry({ entries }: Current, name: string, entry: Entry): Promise<void> {
  // Beside its manifest, which is there.
  if (entries.size > formInWorkspace.images + formInWorkspace.versions)
    throw broken(
      `a form has more than ${formInWorkspace.versions} versions and ${formInWorkspace.images} images`,
    );
  const taken = [...entries.values()].reduce((sum, { length }) => sum + length, 0);
  entries.set(name, await bytesOf(entry, Math.max(0, workspaceLimits.formBytes - taken)));
}

/** The form itself, of all that was read of it. */
async function writeCurrent(
  context: BringContext,
  reading: Reading,
  current: Current,
  entry: Entry,
): Promise<void> {
  const { workspaceId } = reading;
  const state = readJsonEntry(entry.name, await bytesOf(entry, workspaceLimits.recordBytes), checks.state);
  // The permission to bring a workspace is one for all that is in it.
  const scope = { workspaceId, actor: { kind: 'operator', id: '' }, may: () => true } as const;
  const form = await readForm(context, scope, current.entries, reading.idOf);
  current.entries.clear();
  const leftOut = form.leftOut.map(({ what, why }) => ({ what: `${current.name}: ${what}`, why }));
  const write = async (client: Queryable): Promise<void> => {
    await writeForm(client, context, scope, form);
    await hideForm(client, {
      workspace_id: workspaceId,
      id: current.id,
      // Without its password it would ask for none.
      status: form.told.has_password && state.status === 'published' ? 'draft' : state.status,
      updated_at: new Date(state.updated_at),
      published_at: state.published_at === null ? null : new Date(state.published_at),
      retention: Object.fromEntries(Object.entries(state.retention).filter(([, days]) => days !== null)),
      hidden_at: now(),
    });
    await advance(client, reading, { forms: 1 }, leftOut, current.id);
  };
  const run = (): Promise<void> => transaction(context.database, write);
  await (reading.keepsIds ? whileFree(context.database, current.id, run) : run());
}

async function addRecords(
  context: BringContext,
  reading: Reading,
  current: Current,
  kind: RecordKind,
  entry: Entry,
): Promise<void> {
  const { workspaceId, idOf } = reading;
  const lines = await bytesOf(entry, workspaceLimits.recordBytes);
  const place = {
    workspaceId,
    formId: current.id,
    idOf,
    versionsLeftOut: current.versionsLeftOut,
    vault: context.vault,
  };
  await transaction(context.database, async (client) => {
    const { made, leftOut } = await writeRecords[kind](client, place, entry.name, lines);
    await advance(
      client,
      reading,
      made,
      leftOut.map((why) => ({ what: `${current.name}: ${kind}`, why })),
    );
  });
}

/** The bytes of a file, whose row is there. */
async function addFile(
  context: BringContext,
  reading: Reading,
  current: Current,
  before: string,
  entry: Entry,
): Promise<void> {
  const { workspaceId } = reading;
  const id = reading.idOf(before);
  const place = { workspace_id: workspaceId, form_id: current.id };
  const [row] = await findBroughtFile(context.database, { ...place, id });
  if (!row) throw broken(`no submission names ${entry.name}`);
  if (
    entry.size >
    (await readRoom(context.database, context.config.limits, { workspaceId, formId: current.id }))
  )
    throw new ApiError('payload_too_large', 'There is no room for all files of this workspace.');
  const { size, head } = await context.storage.put(
    storageKey(workspaceId, id),
    entry.body,
    fileLimits.fileBytes,
  );
  const content_type = await recogniseType(head, row.content_type);
  await transaction(context.database, async (client) => {
    await setFileContent(client, { workspace_id: workspaceId, id, size, content_type });
    await advance(client, reading, { files: 1 }, []);
  });
}

/** Notes in a transaction that an entry is taken in. @throws LeaseLost where another did that. */
async function advance(
  client: Queryable,
  reading: Reading,
  made: Partial<Counts>,
  leftOut: readonly LeftOut[],
  formId: string | null = null,
): Promise<void> {
  const counts = { ...reading.made };
  for (const [kind, count] of Object.entries(made)) counts[kind as keyof Counts] += count;
  const known = new Set(reading.leftOut.map(({ what, why }) => `${what} ${why}`));
  const more = leftOut.filter(({ what, why }) => !known.has(`${what} ${why}`));
  reading.leftOut = [...reading.leftOut, ...more].slice(0, mostLeftOut);
  reading.made = counts;
  const [advanced] = await advanceWorkspaceImport(client, {
    workspace_id: reading.workspaceId,
    id: reading.importId,
    entries: reading.entry,
    made: counts,
    left_out: JSON.stringify(reading.leftOut),
    form_id: formId,
  });
  if (!advanced) throw new LeaseLost(reading.job);
}

/** All of it is there, and is found from now on. @throws ApiError validation_error where something is missing. */
async function finish({ database }: BringContext, reading: Reading): Promise<void> {
  const { workspaceId, importId, ending, made, job } = reading;
  if (!ending) throw broken('its end is missing');
  for (const [kind, count] of Object.entries(ending.counts))
    if (made[kind as keyof Counts] !== count)
      throw broken(`it has ${made[kind as keyof Counts]} of ${count} ${kind}`);
  await transaction(database, async (client) => {
    const place = { workspace_id: workspaceId };
    await insertUnsubscribed(client, { ...place, rows: JSON.stringify(ending.unsubscribed) });
    const [ended] = await endWorkspaceImport(client, {
      ...place,
      id: importId,
      state: 'done',
      problem: null,
      finished_at: now(),
    });
    if (!ended) throw new LeaseLost(job);
    await showForms(client, { ...place, ids: ended.form_ids });
    await completeJob(client, job);
  });
}

/** What was made is removed behind, and nobody is told of it: nobody was told that it came. */
async function giveUp(
  { database, wakeQueue }: BringContext,
  reading: Reading,
  error: ApiError,
): Promise<void> {
  const { workspaceId: workspace_id, importId, job } = reading;
  const [first] = error.errors ?? [];
  const problem = first ? `${error.message} ${first.message}` : error.message;
  await transaction(database, async (client) => {
    const [ended] = await endWorkspaceImport(client, {
      workspace_id,
      id: importId,
      state: 'failed',
      problem,
      finished_at: now(),
    });
    for (const formId of ended?.form_ids ?? [])
      await enqueueJob(client, {
        workspace_id,
        id: newId(),
        kind: removeFormJob,
        lane: removeFormJob,
        payload: { form_id: formId, is_untold: true },
        delay: 0,
      });
    await completeJob(client, job);
  });
  wakeQueue();
}
