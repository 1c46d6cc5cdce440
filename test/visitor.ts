import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { FormNode } from '#ast/form/tree.ts';
import { structure } from './ast/forms.ts';
import type { Body, Tenant, TestService } from './service.ts';

/** A response of the public page: its text, parsed too if it is JSON. */
export type Visit = { status: number; headers: Headers; text: string; body: Body };

/** A field of an HTML form by name: a text, or a file with its name and type. */
export type Part = readonly [name: string, value: string | File];

/** Sends answers as a visitor's program or browser does. */
export type Visitor = {
  /** Sends JSON. `query` is the query string with its question mark. */
  submit(formId: string, answers: unknown, query?: string): Promise<Visit>;
  /**
   * Sends a form as a browser does: multipart if there is a file or on request, otherwise urlencoded. Does
   * not follow redirects.
   */
  post(formId: string, parts: readonly Part[], options?: PostOptions): Promise<Visit>;
  /** Sends any other request to the service. */
  fetch(path: string, request?: RequestInit): Promise<Visit>;
};
type PostOptions = { query?: string; multipart?: boolean; headers?: Record<string, string> };

/** The option that makes a post return JSON. */
export const asJson = { headers: { Accept: 'application/json' } } as const;

export function openVisitor({ url }: Pick<TestService, 'url'>): Visitor {
  const visit = async (path: string, request: RequestInit = {}): Promise<Visit> => {
    const response = await fetch(`${url}${path}`, { redirect: 'manual', ...request });
    const text = await response.text();
    const isJson =
      response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : {}) as Body,
    };
  };
  return {
    fetch: visit,
    submit: (formId, answers, query = '') =>
      visit(`/f/${formId}${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ answers }),
      }),
    post(formId, parts, { query = '', multipart = false, headers = {} } = {}) {
      const texts: [string, string][] = [];
      const form = new FormData();
      for (const [name, value] of parts) {
        form.append(name, value);
        if (typeof value === 'string') texts.push([name, value]);
      }
      const body = multipart || texts.length < parts.length ? form : new URLSearchParams(texts);
      return visit(`/f/${formId}${query}`, { method: 'POST', body, headers });
    },
  };
}

/** Creates a form of one step with these elements, published by default. Fails if it is refused. */
export async function makeForm(
  tenant: Pick<Tenant, 'call'>,
  elements: readonly FormNode[],
  more: { settings?: object; publish?: boolean } = {},
): Promise<Body> {
  const { status, body } = await tenant.call('POST', '/forms', {
    structure: structure(...elements),
    publish: true,
    ...more,
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** Returns the paths of all files under the service's data directory, to find what uploads left on disk. */
export async function listFiles({ dataDir }: Pick<TestService, 'dataDir'>): Promise<string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1))
    .sort();
}

/** Posts as a browser navigation, which `fetch` cannot do, and returns the status. */
export const loadPage = (
  { url }: Pick<TestService, 'url'>,
  formId: string,
  { headers, body }: { headers: Record<string, string>; body: Record<string, string> },
): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(`${url}/f/${formId}`, {
      method: 'POST',
      headers: {
        Accept: 'text/html,*/*;q=0.8',
        'Content-Type': 'application/x-www-form-urlencoded',
        'Sec-Fetch-Mode': 'navigate',
        ...headers,
      },
    });
    sent.on('response', (answer) => resolve(answer.resume().statusCode!)).on('error', reject);
    sent.end(new URLSearchParams(body).toString());
  });

/** Sends a request with any Host header, which `fetch` cannot do. */
export const fetchAt = (
  { url }: Pick<TestService, 'url'>,
  host: string,
  path: string,
  { method = 'GET', headers = {}, body = '' }: { method?: string; headers?: object; body?: string } = {},
): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> =>
  new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers: { Host: host, ...headers } });
    sent.on('error', reject).on('response', (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      readText(response).then((text) => resolve({ status, text, headers: answered }), reject);
    });
    sent.end(body);
  });
