import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Instance } from '#test/process.ts';
import type { Place } from './peer.ts';
import { type Processes, programOf, runProgram, startScript } from './processes.ts';
import type { Rows } from './rows.ts';

/** Gives a peer an empty database on the instance's PostgreSQL, and functions to start it in its folder. */
export async function openPlace(scene: {
  instance: Instance;
  processes: Processes;
  name: string;
  folder: string;
  port: number;
  rows: Rows;
}): Promise<Place> {
  const { instance, processes, name, folder, port, rows } = scene;
  const database = `bench_peer_${name}`;
  await instance.query(`create database ${database}`);
  const databaseUrl = new URL(instance.databaseUrl);
  databaseUrl.pathname = `/${database}`;
  const url = `http://127.0.0.1:${port}`;
  return {
    folder,
    databaseUrl: databaseUrl.href,
    port,
    rows,
    async write(path, text) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    },
    run: (script, settings) => runProgram(processes, programOf({ folder, script, settings })),
    start: (script, settings, path) => startScript(processes, { folder, script, settings }, `${url}${path}`),
    async call<Document>(
      method: string,
      path: string,
      headers: Readonly<Record<string, string>>,
      body?: unknown,
    ): Promise<Document> {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers,
        signal: AbortSignal.timeout(60_000),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Document;
    },
  };
}
