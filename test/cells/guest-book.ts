import assert from 'node:assert/strict';
import type { Database } from '#kit/database.ts';
import { element, structure } from '../ast/forms.ts';
import type { Body, Tenant, TestService } from '../service.ts';

/* What tests of cells do again and again: a form in the cell of its tenant, and visitors of its page. */

export const form = { structure: structure(element('text', 'name'), element('file_upload', 'papers')) };

export const makeForm = async (tenant: Tenant): Promise<Body> =>
  (await tenant.call('POST', '/forms', { ...form, publish: true })).body;

/** A tenant whose workspace is in that cell: new ones go to the emptiest. */
export async function tenantIn(service: TestService, cell: Database): Promise<Tenant> {
  for (;;) {
    const tenant = await service.makeTenant();
    if (tenant.database === cell) return tenant;
  }
}

/** Fills in the form at an address. @returns how it was answered. */
export async function fillIn(publicUrl: string, name: string): Promise<{ status: number; text: string }> {
  const response = await fetch(publicUrl, {
    method: 'POST',
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    body: JSON.stringify({ answers: { name } }),
  });
  return { status: response.status, text: await response.text() };
}

/** The same, and it has to be taken. */
export async function submit(publicUrl: string, name: string): Promise<void> {
  const { status, text } = await fillIn(publicUrl, name);
  assert.equal(status, 201, text);
}
