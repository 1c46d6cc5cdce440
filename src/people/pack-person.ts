import type { Readable } from 'node:stream';
import { english } from '#mail/words/words.ts';
import { answerFields } from '#mail/notices/answer-fields.ts';
import { type FilesContext, storageKey } from '#files/receive.ts';
import { now } from '#kit/clock.ts';
import { only } from '#kit/statement.ts';
import { type TarWriter, tarStream } from '#kit/tar.ts';
import {
  findEventsToPack,
  findHeldToPack,
  findInvitationToPack,
  findMailToPack,
  findSubmissionToPack,
  listFilesToPack,
} from './queries.ts';
import type { Trace, TraceKind } from './traces.ts';

/**
 * What is kept of a person as one archive, read while it is written: for each trace its facts as JSON, answers also as a
 * text that people read, and the files. What is gone meanwhile is left out, which `contents.json` does not hide: it lists
 * what was found.
 */
export const packPerson = (context: FilesContext, workspaceId: string, traces: readonly Trace[]): Readable =>
  tarStream(async (tar) => {
    await tar.addText(
      'contents.json',
      asJson({
        made_at: now(),
        found: traces.map(({ places, ...trace }) => ({ ...trace, found_in: places })),
      }),
    );
    for (const { kind, id } of traces) await packers[kind](context, tar, { workspace_id: workspaceId, id });
  });

type Key = { workspace_id: string; id: string };
type Packer = (context: FilesContext, tar: TarWriter, key: Key) => Promise<void>;

const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** @param find the facts, and with answers what they answered. */
const packAnswers =
  (folder: string, find: typeof findSubmissionToPack | typeof findHeldToPack): Packer =>
  async (context, tar, key) => {
    const found = only(await find(context.database, key));
    if (!found) return;
    await tar.addText(`${folder}/${key.id}.json`, asJson(found.facts));
    const fields = answerFields(found.structure, found.answers, { locale: 'en', words: english });
    const lines = fields.map(
      (field) =>
        `${field.label}\n  ${'files' in field ? field.files.map(({ filename }) => filename).join(', ') : field.value.replaceAll('\n', '\n  ')}\n`,
    );
    await tar.addText(`${folder}/${key.id}.txt`, lines.join('\n'));
    for (const { id, filename, size } of await listFilesToPack(context.database, key)) {
      const stream = await context.storage.open(storageKey(key.workspace_id, id));
      if (stream) await tar.add(`files/${key.id}/${id}-${filename}`, size, stream);
    }
  };

const packFacts =
  (folder: string, find: (db: FilesContext['database'], key: Key) => Promise<{ facts: object }[]>): Packer =>
  async ({ database }, tar, key) => {
    const found = only(await find(database, key));
    if (found) await tar.addText(`${folder}/${key.id}.json`, asJson(found.facts));
  };

const packers: Readonly<Record<TraceKind, Packer>> = {
  submission: packAnswers('submissions', findSubmissionToPack),
  spam: packAnswers('spam', findHeldToPack),
  invitation: packFacts('invitations', findInvitationToPack),
  mail: packFacts('mails', findMailToPack),
  event: packFacts('events', findEventsToPack),
};
