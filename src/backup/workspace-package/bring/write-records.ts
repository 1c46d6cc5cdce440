import type { Answers } from '#ast/answers.ts';
import { type Form, listQuestions } from '#ast/tree.ts';
import type { Settings } from '#ast/settings.ts';
import { cleanFilename } from '#files/receive.ts';
import { answerSchema } from '#forms/payload/answer-schema.ts';
import { ApiError } from '#kit/errors.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { inTurns } from '#kit/turns.ts';
import { compileCheck } from '#kit/validation.ts';
import type { Vault } from '#kit/vault.ts';
import { addressKeyOf, checkDraft } from '#invitations/draft.ts';
import { invitationToken } from '#invitations/token.ts';
import { hashOfToken } from '#kit/personal-link.ts';
import { searchColumns } from '#submissions/search-columns.ts';
import { readTags } from '#submissions/tags/tags.ts';
import { readJsonEntry } from '../../form-package/package-file.ts';
import {
  findPinnedVersion,
  insertBatches,
  insertBroughtFiles,
  insertBroughtHeld,
  insertBroughtInvitations,
  insertBroughtSubmissions,
  insertBroughtViews,
  insertVisits,
} from './queries.ts';
import { workspaceLimits } from '../limits.ts';
import { broken } from './read-entries.ts';
import { type Counts, type RecordKind, type RecordOf, records } from '../shapes.ts';

/** Where records go, and what their ids become. */
export type RecordPlace = {
  workspaceId: string;
  /** As it is here. */
  formId: string;
  idOf: (before: string) => string;
  /** So many versions of the form, the oldest, are not in the file: what answered one of them answers the first that is. */
  versionsLeftOut: number;
  vault: Vault;
};

/** What came of the lines of an entry, beside the lines: so many of each, and what is not taken over. */
export type Written = { made: Partial<Counts>; leftOut: string[] };

type Write<K extends RecordKind> = (
  db: Queryable,
  place: RecordPlace,
  rows: RecordOf<K>[],
) => Promise<Written>;
type WriteLines = (db: Queryable, place: RecordPlace, name: string, bytes: Buffer) => Promise<Written>;

/** One by one: some KB may unpack to millions of them. */
function* linesIn(bytes: Buffer): Generator<Buffer, void> {
  for (let from = 0, end = 0; from < bytes.length; from = end + 1) {
    end = bytes.indexOf('\n', from);
    if (end === -1) end = bytes.length;
    yield bytes.subarray(from, end);
  }
}

/** Reads lines of a kind, and writes them. @throws ApiError validation_error that names the line. */
function linesOf<K extends RecordKind>(kind: K, write: Write<K>): WriteLines {
  const check = compileCheck(records[kind]);
  return async (db, place, name, bytes) => {
    const rows: RecordOf<K>[] = [];
    let number = 0;
    for await (const line of inTurns(linesIn(bytes), ({ length }) => length)) {
      number += 1;
      if (number > workspaceLimits.recordLines)
        throw broken(`${name} has more than ${workspaceLimits.recordLines} lines`);
      if (line.length > 0) rows.push(readJsonEntry(`${name}, line ${number},`, line, check) as RecordOf<K>);
    }
    return rows.length === 0 ? { made: {}, leftOut: [] } : write(db, place, rows);
  };
}

const intoForm = ({ workspaceId, formId }: RecordPlace, rows: readonly object[]) => ({
  workspace_id: workspaceId,
  form_id: formId,
  rows: JSON.stringify(rows),
});

type Answered = RecordOf<'submissions'> | RecordOf<'held'>;

/** What a submission, and one in the spam box, have in common; answers name files by their new ids. */
function answeredOf(place: RecordPlace, row: Answered) {
  const { id, version, reference, language, invitation_id, created_at } = row;
  return {
    id: place.idOf(id),
    version: Math.max(1, version - place.versionsLeftOut),
    answers: renamed(place, row, row.answers) as Answers,
    reference,
    language,
    key: invitation_id && place.idOf(invitation_id),
    created_at,
  };
}

/** A value of a submission in which files are named by their ids. */
const renamed = ({ idOf }: RecordPlace, { files }: Answered, value: object): object =>
  files.length === 0
    ? value
    : (JSON.parse(
        files.reduce((text, { id }) => text.replaceAll(`"${id}"`, `"${idOf(id)}"`), JSON.stringify(value)),
      ) as object);

const filesOf = (place: RecordPlace, row: Answered, column: 'submission_id' | 'held_id'): object[] =>
  row.files.map(({ id, element, filename, content_type, created_at }) => ({
    id: place.idOf(id),
    element,
    filename: cleanFilename(filename),
    content_type,
    [column]: place.idOf(row.id),
    created_at,
  }));

type Version = { structure: Form; settings: Settings; kinds: ReadonlyMap<string, string> };

/** The versions that are answered, each read once. */
function versionsFor(
  db: Queryable,
  { workspaceId, formId }: RecordPlace,
): (version: number) => Promise<Version> {
  const known = new Map<number, Version>();
  return async (version) => {
    const found = known.get(version);
    if (found) return found;
    const row = only(await findPinnedVersion(db, { workspace_id: workspaceId, form_id: formId, version }));
    if (!row)
      throw new ApiError(
        'validation_error',
        `A submission answers version ${version}, which the form does not have.`,
      );
    const read = { ...row, kinds: kindsOf(row.structure) };
    known.set(version, read);
    return read;
  };
}

/** What the answer to each question is in JSON, where it is always the same. */
const kindsOf = (form: Form): ReadonlyMap<string, string> =>
  new Map(
    listQuestions(form).flatMap((question) => {
      const type = question.kind === 'group' ? 'array' : answerSchema(question.element)['type'];
      return typeof type === 'string'
        ? [[question.element.attrs.id, type === 'integer' ? 'number' : type]]
        : [];
    }),
  );

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

/** @throws ApiError validation_error for an answer that readers could not make sense of. */
function requireKinds({ kinds }: Version, id: string, answers: object): void {
  for (const [name, value] of Object.entries(answers)) {
    const kind = kinds.get(name);
    if (value === null || (kind !== undefined && kind !== kindOf(value)))
      throw new ApiError(
        'validation_error',
        `The answer "${name}" of submission ${id} is not of the kind that its question takes.`,
      );
  }
}

const writeSubmissions: Write<'submissions'> = async (db, place, rows) => {
  const versionOf = versionsFor(db, place);
  const [made, notes, changes, words, files]: object[][] = [[], [], [], [], []];
  for await (const row of inTurns(rows, ({ answers }) => JSON.stringify(answers).length + 4_096)) {
    const answered = answeredOf(place, row);
    const { status, updated_at, completed_at, trashed_at } = row;
    const tags = readTags(row.tags);
    const version = await versionOf(answered.version);
    requireKinds(version, row.id, answered.answers);
    made!.push({
      ...answered,
      status,
      updated_at,
      completed_at,
      trashed_at,
      tags,
      has_files: row.files.length > 0,
    });
    if (trashed_at === null)
      words!.push({
        id: answered.id,
        status,
        tags,
        ...searchColumns(version.structure, version.settings, answered),
      });
    for (const note of row.notes)
      notes!.push({ ...note, id: place.idOf(note.id), submission_id: answered.id });
    for (const change of row.changes)
      changes!.push({
        ...change,
        id: place.idOf(change.id),
        submission_id: answered.id,
        changes: renamed(place, row, change.changes),
      });
    files!.push(...filesOf(place, row, 'submission_id'));
  }
  const [{ id: firstId }] = made as [{ id: string }];
  await insertBroughtSubmissions(db, {
    ...intoForm(place, made!),
    notes: JSON.stringify(notes),
    changes: JSON.stringify(changes),
    words: JSON.stringify(words),
    first_id: firstId,
  });
  if (files!.length > 0) await insertBroughtFiles(db, intoForm(place, files!));
  return { made: { submissions: rows.length }, leftOut: [] };
};

const writeHeld: Write<'held'> = async (db, place, rows) => {
  const versionOf = versionsFor(db, place);
  const made: object[] = [];
  for (const row of rows) {
    const answered = answeredOf(place, row);
    requireKinds(await versionOf(answered.version), row.id, answered.answers);
    // From where it came, the instance kept sealed: nobody can compare it here.
    made.push({ ...answered, reason: row.reason, origin: row.origin, address: '' });
  }
  await insertBroughtHeld(db, intoForm(place, made));
  const files = rows.flatMap((row) => filesOf(place, row, 'held_id'));
  if (files.length > 0) await insertBroughtFiles(db, intoForm(place, files));
  return { made: { held: rows.length }, leftOut: [] };
};

const writeBatches: Write<'batches'> = async (db, place, rows) => {
  const made = rows.map((row) => ({ ...row, id: place.idOf(row.id), total: row.created + row.skipped }));
  await insertBatches(db, intoForm(place, made));
  const isReminded = rows.some(({ remind_after_days: days }) => days.length > 0);
  return {
    made: {},
    leftOut: isReminded ? ['Reminders that were to go out by themselves do not: remind by hand.'] : [],
  };
};

const writeInvitations: Write<'invitations'> = async (db, place, rows) => {
  const made = rows.map((row) => {
    const [problem] = checkDraft(row, () => true);
    if (problem) throw new ApiError('validation_error', problem.message);
    const id = place.idOf(row.id);
    const hash = `\\x${hashOfToken(invitationToken(place.vault, { ...place, id })).toString('hex')}`;
    return { ...row, id, batch_id: place.idOf(row.batch_id), hash, address_key: addressKeyOf(row.email) };
  });
  await insertBroughtInvitations(db, intoForm(place, made));
  return {
    made: { invitations: rows.length },
    leftOut: [
      'Links of invitations that were sent lead to where they were sent from. Here each has a new one.',
    ],
  };
};

const writeViews: Write<'views'> = async (db, place, rows) => {
  await insertBroughtViews(
    db,
    intoForm(
      place,
      rows.map((row) => ({ ...row, id: place.idOf(row.id) })),
    ),
  );
  return { made: { views: rows.length }, leftOut: [] };
};

const writeVisits: Write<'visits'> = async (db, place, rows) => {
  await insertVisits(db, intoForm(place, rows));
  return { made: {}, leftOut: [] };
};

/** Writes the lines of an entry of each kind, in the caller's transaction. */
export const writeRecords: Readonly<Record<RecordKind, WriteLines>> = {
  batches: linesOf('batches', writeBatches),
  invitations: linesOf('invitations', writeInvitations),
  submissions: linesOf('submissions', writeSubmissions),
  held: linesOf('held', writeHeld),
  views: linesOf('views', writeViews),
  visits: linesOf('visits', writeVisits),
};
