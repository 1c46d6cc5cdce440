const base = '/api/v1';

/**
 * Returns the path at which a request to the API is served. One trailing slash is ignored, except below `/docs`, which has
 * pages. `/f/{form_id}` is served below `/api/v1` too, because generated clients send every operation there.
 */
export function servedPath(method: string, path: string): string {
  if (!/^\/(?:api\/v1|app\/api)\//.test(path) || path.startsWith(`${base}/docs`)) return path;
  const plain = path.replace(/(?<=[^/])\/$/, '');
  const isSubmit = (method === 'POST' || method === 'OPTIONS') && /^\/api\/v1\/f\/[^/]+$/.test(plain);
  return isSubmit ? plain.slice(base.length) : plain;
}

/** Whether a request asks for something of the API, by the path that it was sent to. */
export const isApiPath = (path: string): boolean => path === base || path.startsWith(`${base}/`);
