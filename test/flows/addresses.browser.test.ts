import assert from 'node:assert/strict';
import dns from 'node:dns';
import { test } from 'node:test';
import { isSlice } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { element, structure } from '../ast/forms.ts';
import { openDnsServer, type Zone } from '../dns-server.ts';
import {
  closeLaunch,
  leave,
  make,
  openBuilder,
  openWindow,
  problems,
  saved,
  service,
  tenant,
  workspaceId,
} from './builder-page.ts';

/* The short address of a form and the domains of a workspace, in the console. */

const zone: Zone = {};
dns.setServers([await openDnsServer(zone)]);

test('a short address is set in the settings, a used one prevents publishing, and the share view shows the new link', {
  skip: isSlice,
}, async () => {
  const taken = await make(structure(element('text', 'a')), true);
  await tenant.call('PATCH', `/forms/${taken}`, { settings: { slug: 'spring-fair' } });
  const page = await openBuilder(await make(structure(element('text', 'a')), false));
  page.setDefaultTimeout(15_000);
  const view = (name: string) =>
    page.getByRole('navigation', { name: 'Form views' }).getByRole('button', { name }).click();
  const publish = () => page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
  await view('Settings');
  const field = page.getByLabel('Short address');
  await field.fill('Spring fair');
  await page
    .getByText(/Must be 3 to 64 lower-case letters/)
    .first()
    .waitFor();
  await field.fill('spring-fair');
  await page.getByText(`${service.url}/f/spring-fair`).waitFor();
  await saved(page);
  await publish();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByRole('button', { name: /^Short address: "slug" is already in use/ }).click();
  await dialog.waitFor({ state: 'detached' });
  await field.fill('autumn-fair');
  await saved(page);
  await publish();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await closeLaunch(page);
  await view('Share');
  await page.getByText(`${service.url}/f/autumn-fair`, { exact: true }).first().waitFor();
  await page
    .getByText(/data-form="autumn-fair"/)
    .first()
    .waitFor();
  await leave(page);
  assert.deepEqual(problems, []);
});

test('an admin adds a domain, verifies it and deletes it', { skip: isSlice }, async () => {
  const admin = await signIn(service, { workspaceId, name: 'Cy', role: 'admin' });
  const page = await openWindow(admin, {});
  page.setDefaultTimeout(15_000);
  await page.goto(`${service.url}/app/w/${workspaceId}/settings/domains`);
  await page.getByLabel('Domain', { exact: true }).fill('https://forms.example.com');
  await page.getByRole('button', { name: 'Add domain' }).click();
  await page.getByText('Enter a domain such as forms.example.com, without https:// and path.').waitFor();
  await page.getByLabel('Domain', { exact: true }).fill('Forms.Example.com');
  await page.getByRole('button', { name: 'Add domain' }).click();
  const verify = page.getByRole('button', { name: 'Verify forms.example.com' });
  await verify.click();
  await page.getByText('The TXT record _formloom.forms.example.com was not found.').waitFor();
  const value = await page.getByRole('textbox', { name: 'TXT record value' }).textContent();
  zone['_formloom.forms.example.com'] = { txt: [value!] };
  await verify.click();
  await page.getByText('Links to your forms use this domain.').waitFor();
  await page.getByRole('button', { name: 'Delete forms.example.com' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete domain' }).click();
  await page.getByText('forms.example.com was deleted.').waitFor();
  await verify.waitFor({ state: 'detached' });
  await page.context().close();
  assert.deepEqual(problems, []);
});
