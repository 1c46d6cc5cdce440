import assert from 'node:assert/strict';
import type { SubmissionDetail, TablePage } from '#submissions/shapes.ts';
import { composite, element, structure } from './ast/forms.ts';
import { type ConsolePerson, signIn } from './console.ts';
import { openService, type Tenant } from './service.ts';

// A service with an editor, for tests of submissions.

export const service = await openService();
export const tenant = await service.makeTenant();
export const person = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
export const elements = [
  element('text', 'name', { required: true, label: 'Name' }),
  element('radio', 'colour', { label: 'Colour' }),
  element('number', 'age', { label: 'Age' }),
  element('file_upload', 'photo', { label: 'Photo' }),
  composite('guests', [element('text', 'guest', { label: 'Guest' })], { repeatable: true, label: 'Guests' }),
];

export async function makeForm(children: unknown[] = elements, owner: Tenant = tenant): Promise<string> {
  const made = await owner.call('POST', '/forms', { structure: structure(...children), publish: true });
  assert.equal(made.status, 201);
  return made.body.id;
}

export async function submit(form: string, answers: object, reference = ''): Promise<string> {
  const response = await fetch(`${service.url}/f/${form}${reference}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ answers }),
  });
  const body = (await response.json()) as { id: string };
  assert.equal(response.status, 201, JSON.stringify(body));
  return body.id;
}

export const pathOf = (form: string, rest = ''): string =>
  `/workspaces/${tenant.workspaceId}/forms/${form}/submissions${rest}`;

export async function list(form: string, query = '', who: ConsolePerson = person): Promise<TablePage> {
  const { status, body } = await who.api<TablePage>('GET', `/forms/${form}/rows${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

export const namesOf = (page: TablePage): unknown[] => page.data.map((row) => row.answers['name']);

export async function detail(id: string, query = ''): Promise<SubmissionDetail> {
  const { status, body } = await person.api<SubmissionDetail>('GET', `/submissions/${id}/view${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Changes a submission as the person. */
export async function change(id: string, patch: object): Promise<void> {
  const { status, body } = await person.api('PATCH', `/submissions/${id}`, patch);
  assert.equal(status, 200, JSON.stringify(body));
}
