import type { IncomingMessage } from 'node:http';
import { uuidPattern } from '#kit/clock.ts';
import { hashOfHeader } from '#workspaces/api-key.ts';

/** Where a path itself names a form or a workspace: pages and what belongs to them, files, and a person's own matters. */
const named =
  /^\/(?:(?:api\/v1\/)?f|files|app\/api\/(?:forms|workspaces|memberships))\/([0-9a-f-]{36})(?=[/?#]|$)/i;
/** Where the caller is of a workspace. */
const called = /^\/(?:api\/v1\/|mcp(?:[?#]|$))/;

/**
 * What of a request the directory knows: the hash of its API key, or the id, as a text, of the workspace or form that it names; undefined
 * for what concerns none, and is answered by the first cell. It reads what findCaller and the routes read.
 */
export function placeOfRequest(request: IncomingMessage): Buffer | string | undefined {
  const { url = '' } = request;
  const inPath = named.exec(url)?.[1];
  if (inPath !== undefined) return ofUuid(inPath);
  if (!called.test(url)) return undefined;
  const { headersDistinct } = request;
  const authorization = headersDistinct['authorization'];
  if (authorization !== undefined) return hashOfHeader(authorization);
  const [inHeader] = headersDistinct['x-workspace-id'] ?? [];
  return ofUuid(inHeader ?? new URLSearchParams(url.split('?', 2)[1]).get('workspace_id') ?? '');
}

function ofUuid(text: string): string | undefined {
  const id = text.toLowerCase();
  return uuidPattern.test(id) ? id : undefined;
}
