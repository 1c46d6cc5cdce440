import { readFileSync } from 'node:fs';
import { type FileLinks, openFileLinks } from '#files/stored-files.ts';
import { type LiveForms, openLiveForms } from '#forms/live-form.ts';
import { now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { openStorage } from '#kit/storage/open-storage.ts';
import type { Storage } from '#kit/storage.ts';
import type { Vault } from '#kit/vault.ts';
import { type KeptFiles, openKeptFiles } from '#page/visit/kept-files.ts';
import { type FeedNotifier, openFeedNotifier } from '#webhooks/feed-notifier.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import type { Metrics } from '../metrics/start-metrics.ts';

/**
 * Everything that a request may need, opened once (openServices) and passed down. Each module uses only a
 * part of it.
 */
export type Services = {
  config: Config;
  log: Log;
  database: Database;
  vault: Vault;
  storage: Storage;
  links: FileLinks;
  liveForms: LiveForms;
  heldFiles: KeptFiles;
  feedBell: FeedNotifier;
  requestCounter: RequestCounter;
  /** Undefined if metrics are turned off. Nothing is counted then. */
  metrics?: Metrics | undefined;
  /** Notifies the queue of new work. Call it after the transaction that enqueued the work. */
  wakeQueue: () => void;
};

/** What a process has before it serves requests, opened by its start or received from its primary. */
export type BaseServices = Pick<
  Services,
  'config' | 'log' | 'database' | 'vault' | 'requestCounter' | 'metrics'
>;

/** Opens the services of a process. The caller closes `feedBell`. */
export const openServices = (ground: BaseServices): Omit<Services, 'wakeQueue'> => ({
  ...ground,
  storage: openStorage(ground.config),
  links: openFileLinks({ vault: ground.vault, publicUrl: ground.config.publicUrl, now }),
  liveForms: openLiveForms(ground.database),
  heldFiles: openKeptFiles(ground),
  feedBell: openFeedNotifier(ground),
});

const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The version of this service, from package.json. */
export const serviceVersion: string = manifest.version;
