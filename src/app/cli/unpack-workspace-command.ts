import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '#kit/errors.ts';
import type { ReplyOf } from '../operations.ts';
import { type Api, call } from './api.ts';
import { apiCommand, optional, PartlyDone } from './command.ts';
import { choice, text, UsageError } from './values.ts';

type Import = ReplyOf<'getWorkspaceImport'>;

/** How often is looked how far it is, and for how long nothing may happen: then no service runs that takes it in. */
const pauseMs = 250;
const stillLooks = 240;

/** The operations of an import, one after the other. */
export const unpackWorkspaceCommand = apiCommand({
  name: 'workspace unpack',
  summary: 'Brings everything of a file that `workspace pack` made into a workspace, beside what is there.',
  about:
    'The service takes it in, all of it or nothing; this waits for it, and where none runs says so. On the machine of the service `--ids keep` keeps the ids of before, under which links to forms lead to them.',
  parameters: { file: { ...text('<file>'), isFile: true } },
  options: { ids: optional(choice(['new', 'keep'])) },
  async run({ api }, { file, ids = 'new' }) {
    const begun = await call(api, 'beginWorkspaceImport', { body: { ids } });
    const { id } = begun;
    await sendParts(api, begun, file);
    const params = { id };
    let seen = await call(api, 'startWorkspaceImport', { params });
    for (let still = 0; seen.state === 'running'; still += 1) {
      if (still === stillLooks)
        throw new PartlyDone(
          `It is not taken in: no service runs, or it is busy. \`workspace import ${id}\` says how far it is.`,
          seen,
        );
      await sleep(pauseMs);
      const now: Import = await call(api, 'getWorkspaceImport', { params });
      if (!isDeepStrictEqual(now, seen)) still = 0;
      seen = now;
    }
    if (seen.state === 'failed') throw new ApiError('validation_error', String(seen.problem));
    return seen;
  },
});

/** @throws UsageError for a file that cannot be read. */
async function sendParts(api: Api, { id, part_bytes }: Import, path: string): Promise<void> {
  const file = await open(path).catch((error: Error) => {
    throw new UsageError(error.message);
  });
  try {
    const part = Buffer.alloc(part_bytes);
    for (let number = 1; ; number += 1) {
      const { bytesRead } = await file.read(part, 0, part.length);
      if (bytesRead === 0) return;
      const body = Buffer.from(part.subarray(0, bytesRead));
      await call(api, 'addWorkspacePart', { params: { id, number }, body });
    }
  } finally {
    await file.close();
  }
}
