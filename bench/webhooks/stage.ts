import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newId, now } from '#kit/clock.ts';
import { type Database, openDatabase, transaction } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { migrate, readMigrations } from '#kit/migrate.ts';
import { openInstance } from '#test/process.ts';
import type { Place } from '#test/webhooks/make-webhook.ts';
import { snapshotOf } from '#webhooks/event.ts';
import { recordEvents, type SubmissionEvent } from '#webhooks/record-event.ts';
import type { BareOrder } from './bare.ts';
import type { ReceiverFigures } from './receiver.ts';

/** A service as a user starts it, a receiver and the bare loop, each in its own process. */
export type Stage = {
  database: Database;
  receiver: Receiver;
  bare: { pid: number; post(order: BareOrder): Promise<void> };
  /** A database with the service's schema on the same server, used only by the bare loop. */
  ledger: { url: string; database: Database };
  service: { pid: number };
  close(): Promise<void>;
};

export type Receiver = {
  url: string;
  ask(message: 'reset' | 'tell'): Promise<ReceiverFigures>;
  /** Waits for `count` requests since `reset`, and returns the figures. */
  untilCount(count: number): Promise<ReceiverFigures>;
};

const authority = fileURLToPath(new URL('../../test/certs/ca.pem', import.meta.url));

export const start = (name: string): ChildProcess =>
  fork(fileURLToPath(new URL(name, import.meta.url)), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { ...process.env, NODE_EXTRA_CA_CERTS: authority },
  });

export async function startReceiver(child: ChildProcess): Promise<Receiver> {
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const receiver: Receiver = {
    url: `https://127.0.0.1:${port}`,
    async ask(message) {
      child.send(message);
      return ((await once(child, 'message')) as [ReceiverFigures])[0];
    },
    async untilCount(count) {
      for (;;) {
        const figures = await receiver.ask('tell');
        if (figures.count >= count) return figures;
        await sleep(50);
      }
    },
  };
  return receiver;
}

/** @param profile a directory for CPU profiles of the service. */
export async function openStage(profile: string | undefined): Promise<Stage> {
  const children = { receiver: start('receiver.ts'), bare: start('bare.ts') };
  const instance = await openInstance(
    profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` },
  );
  const receiver = await startReceiver(children.receiver);
  const service = await instance.start();
  const database = openDatabase(
    { connectionString: instance.databaseUrl },
    { pool: 4, log: openLog('silent') },
  );
  const ledgerUrl = new URL(instance.databaseUrl);
  ledgerUrl.pathname = '/bench_ledger';
  await database.query('create database bench_ledger');
  const ledger = openDatabase({ connectionString: ledgerUrl.href }, { pool: 4, log: openLog('silent') });
  await migrate(ledger, await readMigrations());
  return {
    database,
    receiver,
    ledger: { url: ledgerUrl.href, database: ledger },
    service,
    bare: {
      pid: children.bare.pid!,
      async post(order) {
        children.bare.send(order);
        await once(children.bare, 'message');
      },
    },
    async close() {
      children.receiver.disconnect();
      children.bare.disconnect();
      await ledger.end();
      await database.end();
      await service.terminate();
      await instance.close();
    },
  };
}

/**
 * Records `count` events of 1 KB in one transaction, as submit.ts does, so that all become due at the same
 * time.
 */
export const record = (database: Database, place: Place, count: number): Promise<void> =>
  transaction(database, async (client) => {
    for (let left = count; left > 0; left -= 100)
      await recordEvents(client, place.workspaceId, place.formId, makeEvents(place, Math.min(left, 100)));
  });

function makeEvents(place: Place, count: number): SubmissionEvent[] {
  const form = { id: place.formId, name: 'Contact', workspaceId: place.workspaceId };
  const answers = { name: 'Ada Lovelace', message: 'word '.repeat(150) };
  return Array.from({ length: count }, () => {
    const submissionId = newId();
    const submission = { id: submissionId, submittedAt: now(), status: 'completed', reference: {}, answers };
    const snapshot = snapshotOf({ form, submission, fields: {} });
    return { submissionId, kind: 'submission.created', occurredAt: now(), snapshot, fields: {} };
  });
}
