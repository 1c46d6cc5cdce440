const base = '/api/v1';

/**
 * The path at which a request to the API is served. One trailing slash is ignored, except below the reference for people,
 * which has pages. A form's own address is below the API's too: generated clients send every operation there (docs/decisions/0100).
 */
export function servedPath(method: string, path: string): string {
  if (!/^\/(?:api\/v1|app\/api)\//.test(path) || path.startsWith(`${base}/docs`)) return path;
  const plain = path.replace(/(?<=[^/])\/$/, '');
  const isSubmit = (method === 'POST' || method === 'OPTIONS') && /^\/api\/v1\/f\/[^/]+$/.test(plain);
  return isSubmit ? plain.slice(base.length) : plain;
}

/** Whether a request asks for something of the API, by the path that it was sent to. */
export const isApiPath = (path: string): boolean => path === base || path.startsWith(`${base}/`);
