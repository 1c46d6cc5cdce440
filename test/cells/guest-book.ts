import assert from 'node:assert/strict';
import type { Database } from '#kit/database.ts';
import { element, structure } from '../ast/forms.ts';
import type { Body, Tenant, TestService } from '../service.ts';

/* Helpers for tests of cells: they make a form in the cell of its tenant and submit its public page. */

export const form = { structure: structure(element('text', 'name'), element('file_upload', 'papers')) };

export const makeForm = async (tenant: Tenant): Promise<Body> =>
  (await tenant.call('POST', '/forms', { ...form, publish: true })).body;

/** Creates a tenant whose workspace is in this cell. A new one goes to the smallest cell, so this repeats. */
export async function tenantIn(service: TestService, cell: Database): Promise<Tenant> {
  for (;;) {
    const tenant = await service.makeTenant();
    if (tenant.database === cell) return tenant;
  }
}

/**
 * Fills in the form at an address.
 * @returns the response.
 */
export async function fillIn(publicUrl: string, name: string): Promise<{ status: number; text: string }> {
  const response = await fetch(publicUrl, {
    method: 'POST',
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    body: JSON.stringify({ answers: { name } }),
  });
  return { status: response.status, text: await response.text() };
}

/** Fills in the form at an address and asserts that it is accepted. */
export async function submit(publicUrl: string, name: string): Promise<void> {
  const { status, text } = await fillIn(publicUrl, name);
  assert.equal(status, 201, text);
}
