import assert from 'node:assert/strict';
import { readMarkup, type Tag } from './page/read-page.ts';
import type { Body, Tenant, TestService } from './service.ts';

/** The values or files to enter in fields. */
export type Entries = Readonly<Record<string, readonly (string | File)[] | string>>;

/** A page of a form as a browser without script shows it. */
export type Paper = {
  readonly status: number;
  readonly tags: readonly Tag[];
  readonly title: string;
  /** The headings of the visible steps. */
  readonly headings: readonly string[];
  /** The texts of the errors in the summary. */
  readonly problems: readonly string[];
  /** The hint about the visitor's current step. */
  readonly notice: string | undefined;
  /** The target of a redirect, if there is no page. */
  readonly location: string | undefined;
  /** Returns the values of the controls with this name. */
  values(name: string): string[];
  /** Presses the button with this `_go`, with these fields filled in and all other fields unchanged. */
  press(go: string, entries?: Entries): Promise<Paper>;
};

/** A browser's User-Agent, whose page views are counted. */
export const browserAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** Opens a page of the service and posts its form as a browser does, with only the fields of the page. */
export async function openPaper(
  service: Pick<TestService, 'url'>,
  path: string,
  cookie = '',
): Promise<Paper> {
  const headers = { Accept: 'text/html', Cookie: cookie, 'User-Agent': browserAgent };
  return read(service, await fetch(new URL(path, service.url), { headers, redirect: 'manual' }), cookie);
}

async function read(service: Pick<TestService, 'url'>, response: Response, cookie: string): Promise<Paper> {
  const markup = await response.text();
  const tags = markup.startsWith('<!doctype') ? readMarkup(markup) : [];
  const texts = (tag: string, className: string) =>
    tags.filter((each) => each.tag === tag && each.attrs['class'] === className).map(({ text }) => text);
  const controls = controlsOf(tags);
  return {
    status: response.status,
    tags,
    title: tags.find(({ tag }) => tag === 'title')?.text ?? '',
    headings: headingsOf(tags),
    problems: tags.filter(({ tag }) => tag === 'li').map(({ text }) => text.trim()),
    notice: texts('p', 'hint')[0],
    location: response.headers.get('location') ?? undefined,
    values: (name) => controls.filter(([each]) => each === name).map(([, value]) => value),
    async press(go, entries = {}) {
      const form = tags.find(({ tag }) => tag === 'form')!.attrs;
      const kept = controls.filter(([name]) => !Object.hasOwn(entries, name));
      const filled = Object.entries(entries).flatMap(([name, given]) =>
        [given].flat().map((value): [string, string | File] => [name, value]),
      );
      const all = [...kept, ...filled, ['_go', go] as [string, string]];
      const body = form['enctype'] === 'multipart/form-data' ? new FormData() : new URLSearchParams();
      for (const [name, value] of all) body.append(name, value as string);
      const headers = { Accept: 'text/html', Cookie: cookie, 'User-Agent': browserAgent };
      const request = { method: 'POST', body, headers };
      const pressed = tags.find(({ attrs }) => attrs['name'] === '_go' && attrs['value'] === go);
      const action = pressed?.attrs['formaction'] ?? form['action']!;
      const posted = await fetch(new URL(action.replaceAll('&amp;', '&'), service.url), {
        ...request,
        redirect: 'manual',
      });
      return read(service, posted, cookie);
    },
  };
}

/**
 * Returns the successful controls of a page's form, including hidden ones. Buttons and files are set for each
 * post.
 */
function controlsOf(tags: readonly Tag[]): [name: string, value: string][] {
  const found: [string, string][] = [];
  for (const [at, { tag, attrs, text }] of tags.entries()) {
    const { name = '', type = '', value = '' } = attrs;
    if (name === '') continue;
    if (tag === 'textarea') found.push([name, text.replace(/^\n/, '')]);
    else if (tag === 'select') found.push([name, selectedOf(tags.slice(at + 1))]);
    else if (tag !== 'input' || type === 'file') continue;
    else if (!['checkbox', 'radio'].includes(type)) found.push([name, value]);
    else if ('checked' in attrs) found.push([name, value]);
  }
  return found;
}

function selectedOf(after: readonly Tag[]): string {
  const end = after.findIndex(({ tag }) => tag !== 'option');
  const options = after.slice(0, end === -1 ? undefined : end);
  return (options.find(({ attrs }) => 'selected' in attrs) ?? options[0])?.attrs['value'] ?? '';
}

function headingsOf(tags: readonly Tag[]): string[] {
  const shown = tags.filter(({ tag, attrs }) => tag === 'section' && !('hidden' in attrs));
  const ids = shown.map(({ attrs }) => attrs['aria-labelledby']);
  return tags
    .filter(({ attrs }) => attrs['id'] !== undefined && ids.includes(attrs['id']))
    .map(({ text }) => text);
}

/** Publishes a form and returns its id. Fails if it is refused. */
export async function publishForm(
  tenant: Tenant,
  structure: unknown,
  settings: object = {},
): Promise<string> {
  const { status, body } = await tenant.call('POST', '/forms', { structure, publish: true, settings });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

/** Returns the submission that a page redirected to. Fails if there is none. */
export async function submissionOf(tenant: Tenant, paper: Paper): Promise<Body> {
  assert.equal(paper.status, 303, paper.problems.join());
  const receipt = new URL(paper.location!, 'http://form').searchParams.get('receipt');
  return (await tenant.call('GET', `/submissions/${receipt}`)).body;
}

/** Returns the name of the first file of an answer. */
export const filenameOf = (answer: unknown): string | undefined =>
  (answer as readonly { filename: string }[])[0]?.filename;
