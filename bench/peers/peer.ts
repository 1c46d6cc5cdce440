import type { Request } from '../load.ts';
import type { Rows } from './rows.ts';

/** What each peer is asked, and the service beside it. */
export const caseNames = ['list', 'get', 'search', 'insert'] as const;
export type CaseName = (typeof caseNames)[number];
export type Asked = Readonly<Record<CaseName, readonly Request[]>>;

/** Another program that takes entries, keeps and lists them. */
export type Peer = {
  /** As it is chosen on the command line. */
  name: string;
  version: string;
  /** What npm installs in a folder of its own, by exact versions. No scripts of packages are run. */
  packages: {
    dependencies: Readonly<Record<string, string>>;
    overrides?: Readonly<Record<string, string>>;
  };
  /** Its settings and what has to be known of the comparison, for bench/peers.md. */
  notes: string;
  /** Starts it on its empty database, and gives it a table with the rows. */
  open(place: Place): Promise<OpenPeer>;
};

/** Where a peer runs. */
export type Place = {
  /** Has its `node_modules`. */
  folder: string;
  /** Of its own, on the PostgreSQL of the service. */
  databaseUrl: string;
  /** Free, on the loopback address. */
  port: number;
  rows: Rows;
  /** Writes a file of the folder. */
  write(path: string, text: string): Promise<void>;
  /** Runs a script on the pinned Node to its end. @throws with its output when it fails. */
  run(script: string, settings: Settings): Promise<void>;
  /** Starts a script that serves, and waits until a GET of `path` is answered with success. */
  start(script: string, settings: Settings, path: string): Promise<{ pid: number }>;
  /** A JSON request to what was started. @throws when the answer is no success. */
  call<Document>(
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: unknown,
  ): Promise<Document>;
};

/** Its environment. */
export type Settings = Readonly<Record<string, string>>;

/** `requests`: as the load generator sends them. */
export type OpenPeer = { pid: number; requests: Asked };
