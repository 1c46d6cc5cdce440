import assert from 'node:assert/strict';
import { gunzipSync, gzipSync } from 'node:zlib';
import { packTar, unpackTar } from 'modern-tar';
import { type Body, until } from './service.ts';

/* The file of a workspace as tests send, open and compare it. */

/** How far an import is, as the API says it. */
export type WorkspaceImport = Body & {
  state: 'receiving' | 'running' | 'done' | 'failed';
  made: Record<string, number>;
  left_out: { what: string; why: string }[];
  problem: string | null;
};

/** A service and a key of the workspace. */
export type Place = { url: string; key: string };
const as = (key: string) => ({ Authorization: `Bearer ${key}` });

export async function packWorkspaceOf({ url, key }: Place): Promise<Buffer> {
  const response = await fetch(`${url}/api/v1/workspace/package`, { headers: as(key) });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/gzip');
  return Buffer.from(await response.arrayBuffer());
}

/** Sends a file in parts, and starts it. @returns the id of the import. */
export async function sendWorkspace(
  { url, key }: Place,
  given: Buffer | Blob,
  partBytes = 50_000,
): Promise<string> {
  const file = given instanceof Blob ? given : new Blob([new Uint8Array(given)]);
  const request = async (method: string, path: string, body?: Blob) => {
    const response = await fetch(`${url}/api/v1/workspace/imports${path}`, {
      method,
      headers: { ...as(key), ...(body && { 'Content-Type': 'application/octet-stream' }) },
      ...(body && { body }),
    });
    const answer = (await response.json()) as WorkspaceImport;
    assert.ok(response.status < 300, JSON.stringify(answer));
    return answer;
  };
  const { id } = await request('POST', '');
  for (let at = 0, number = 1; at < file.size; at += partBytes, number += 1)
    await request('PUT', `/${id}/parts/${number}`, file.slice(at, at + partBytes));
  await request('POST', `/${id}/start`);
  return id;
}

export const workspaceImportEnded = (
  { url, key }: Place,
  id: string,
  seconds = 30,
): Promise<WorkspaceImport> =>
  until(
    'the import to end',
    async () => {
      const response = await fetch(`${url}/api/v1/workspace/imports/${id}`, { headers: as(key) });
      const found = (await response.json()) as WorkspaceImport;
      return found.state !== 'running' && found;
    },
    seconds,
  );

/** The entries of a file: its texts, and bytes of images and files. */
export async function openPacked(bytes: Buffer): Promise<Map<string, string | Buffer>> {
  const found = await unpackTar(gunzipSync(bytes));
  return new Map(
    found.map(({ header, data }) => {
      const content = Buffer.from(data ?? []);
      return [header.name, header.name.endsWith('json') ? content.toString() : content];
    }),
  );
}

export async function closePacked(entries: ReadonlyMap<string, string | Buffer>): Promise<Buffer> {
  const list = [...entries].map(([name, content]) => {
    const body = Buffer.from(content);
    return { header: { name, size: body.length }, body: new Uint8Array(body) };
  });
  return gzipSync(await packTar(list));
}

const anyId = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A file without what another workspace makes anew: ids, by the order in which they come, and the bytes of images. */
export async function comparablePacked(bytes: Buffer): Promise<unknown[]> {
  const names = new Map<string, string>();
  const plain = (text: string): string =>
    text.replaceAll(anyId, (id) => {
      names.set(id, names.get(id) ?? `id ${names.size}`);
      return names.get(id)!;
    });
  return [...(await openPacked(bytes))]
    .filter(([name]) => name !== 'workspace.json')
    .map(([name, content]) => [
      plain(name),
      typeof content === 'string' ? plain(content) : name.includes('/files/') ? content.toString('hex') : '',
    ]);
}
