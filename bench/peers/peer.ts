import type { Request } from '../load.ts';
import type { Rows } from './rows.ts';

/** The cases that each peer and the service answer. */
export const caseNames = ['list', 'get', 'search', 'insert'] as const;
export type CaseName = (typeof caseNames)[number];
export type Asked = Readonly<Record<CaseName, readonly Request[]>>;

/** Another program that accepts, stores and lists entries. */
export type Peer = {
  /** The name for the command line. */
  name: string;
  version: string;
  /** Exact versions that npm installs into the peer's own folder. Package scripts do not run. */
  packages: {
    dependencies: Readonly<Record<string, string>>;
    overrides?: Readonly<Record<string, string>>;
  };
  /** Its settings and notes on the comparison, for bench/peers.md. */
  notes: string;
  /** Starts it on its empty database, and creates a table with the rows. */
  open(place: Place): Promise<OpenPeer>;
};

/** The environment in which a peer runs. */
export type Place = {
  /** Contains its `node_modules`. */
  folder: string;
  /** The peer's own database on the service's PostgreSQL. */
  databaseUrl: string;
  /** A free port on the loopback address. */
  port: number;
  rows: Rows;
  /** Writes a file in the folder. */
  write(path: string, text: string): Promise<void>;
  /** Runs a script to its end on the pinned Node. @throws with its output if it fails. */
  run(script: string, settings: Settings): Promise<void>;
  /** Starts a server script, and waits until a GET of `path` succeeds. */
  start(script: string, settings: Settings, path: string): Promise<{ pid: number }>;
  /** Sends a JSON request to the started server. @throws if the response is not a success. */
  call<Document>(
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: unknown,
  ): Promise<Document>;
};

/** Environment variables of the peer. */
export type Settings = Readonly<Record<string, string>>;

/** `requests`: in the format of the load generator. */
export type OpenPeer = { pid: number; requests: Asked };
