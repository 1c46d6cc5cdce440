import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { findBarriers, heading, openConsoleBrowser, press, tabTo } from '#test/console-browser.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService } from '#test/service.ts';
import { makeForm } from '#test/visitor.ts';
import { element } from '../ast/forms.ts';

/* Inviting people in the console: pasting, importing, emailing, answering, reminding and revoking. */

const mail = await openMailServer();
const service = await openService({
  SMTP_URL: mail.url,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_PER_MINUTE: '60000',
});
const tenant = await service.makeTenant();
const person = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
const browser = await openConsoleBrowser(service, { goesWithin: true });

const open = async (path: string, options: object = {}): Promise<Page> => {
  const page = await browser.open(`/app/forms/${path}`, person, options);
  return page;
};
const makeInvitedForm = async (): Promise<string> =>
  (
    await makeForm(tenant, [element('text', 'city', { label: 'Your city' })], {
      settings: { access: 'invited' },
    })
  ).id;
const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

test('pasted addresses get emails and can answer from them, and the list shows it, by keyboard', async () => {
  const form = await makeInvitedForm();
  const page = await open(`${form}/submissions`);
  await page.getByRole('link', { name: 'Invitations' }).click();
  await page.getByRole('heading', { name: 'No invitations yet' }).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await tabTo(page, 'button', 'Invite people');
  await press(page, 'Enter');
  await heading(page, 'Invite people');
  const addresses = page.getByRole('textbox', { name: 'Email addresses' });
  await addresses.fill('Ada Lovelace <ada@example.org>\ngrace@example.org\nnot-an-address\nADA@example.org');
  await page.getByText('Line 3: "not-an-address" is not a valid email address.').waitFor();
  await page.getByText('Line 4: ADA@example.org is already on line 1.').waitFor();
  const preview = page.getByRole('region', { name: 'Email preview' });
  await page.getByRole('textbox', { name: 'Subject' }).fill('For {{nmae}}');
  await page.getByText('{{nmae}} is not a placeholder.').waitFor();
  await page.getByRole('textbox', { name: 'Subject' }).fill('For {{name|you}}');
  await preview.getByText('For Ada Lovelace').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await tabTo(page, 'button', 'Send invitations to 2 people');
  await press(page, 'Enter');
  await heading(page, 'Invitations');
  await rowOf(page, 'ada@example.org').getByText('Sent').waitFor();
  assert.deepEqual(await findBarriers(page), []);

  const [taken] = await mail.waitFor('ada@example.org', 1);
  assert.equal(taken!.mail.subject, 'For Ada Lovelace');
  const link = /http\S+_invitation=\S+/.exec(taken!.mail.text!)![0];
  const visitor = await browser.open(link.slice(service.url.length));
  await visitor.getByLabel('Your city').fill('London');
  await visitor.getByRole('button', { name: 'Submit' }).click();
  await visitor.getByRole('heading', { name: 'Thank you' }).waitFor();
  assert.ok(!visitor.url().includes('_invitation'));
  await visitor.goto(link);
  await visitor.getByRole('heading', { name: 'You’ve already answered' }).waitFor();
  await browser.leave(visitor);

  await page.reload();
  await rowOf(page, 'ada@example.org').getByText('Completed').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download links' }).click();
  const file = await readFile(await (await download).path(), 'utf8');
  assert.ok(file.includes('ada@example.org') && file.includes(link), file);
  await rowOf(page, 'ada@example.org').getByRole('link', { name: 'View' }).click();
  await page.getByRole('dialog').or(page.getByRole('complementary')).getByText('London').first().waitFor();
  browser.assertQuiet();
  await browser.leave(page);
});

test('a file can be mapped, previewed and imported, and its columns are stored with the answers', {
  skip: isSlice,
}, async () => {
  const form = await makeInvitedForm();
  // Tall enough that the screen edge cuts nothing off, which axe would report as too small a target.
  const page = await open(`${form}/invitations/new`, { viewport: { width: 1280, height: 2_200 } });
  const addresses = page.getByRole('textbox', { name: 'Email addresses' });
  await addresses.fill('grace@example.net');
  await page.getByRole('tab', { name: 'Import a CSV file' }).click();
  const text = 'Mail;Who;Your city;Customer\nada@example.net;Ada;Rome;=17\nnot-an-address;;;\n';
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Choose file' }).click(),
  ]);
  await chooser.setFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await page.getByText('1 line is skipped').waitFor();
  const mapping = page.getByRole('group', { name: 'Column mapping' });
  await mapping.getByRole('button', { name: /Answer: Your city/ }).waitFor();
  await mapping.getByRole('button', { name: /Column “Who”/ }).click();
  await page.getByRole('option', { name: 'Name', exact: true }).click();
  await page.getByRole('region', { name: 'Email preview' }).getByText('To Ada').waitFor();
  // Switching tabs loses nothing in either tab.
  await page.getByRole('tab', { name: 'Paste addresses' }).click();
  assert.equal(await addresses.inputValue(), 'grace@example.net');
  await page.getByRole('tab', { name: 'Import a CSV file' }).click();
  await page.getByText('people.csv').waitFor();
  await page.getByRole('region', { name: 'Email preview' }).getByText('To Ada').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.getByRole('textbox', { name: 'Reminders after (days)' }).fill('3, 7');
  await page.getByRole('button', { name: 'Send invitations to 1 person' }).click();
  await rowOf(page, 'ada@example.net').getByText('Sent').waitFor();
  const { body } = await tenant.call('GET', `/forms/${form}/invitations`);
  const [row] = body.data as unknown as { name: string; reference: object; prefill: object }[];
  assert.deepEqual([row!.name, row!.reference, row!.prefill], ['Ada', { Customer: '=17' }, { city: 'Rome' }]);
  browser.assertQuiet();
  await browser.leave(page);
});

test('a bounced invitation can be emailed again, unanswered ones reminded, and a revoked link is invalid', {
  skip: isSlice,
}, async () => {
  const form = await makeInvitedForm();
  mail.treat('gone@example.com', 'refuse recipient');
  const invited = await tenant.call('POST', `/forms/${form}/invitations`, {
    invitations: [{ email: 'gone@example.com' }, { email: 'quiet@example.com' }],
  });
  assert.equal(invited.status, 201);
  const page = await open(`${form}/invitations`, { viewport: { width: 375, height: 740 } });
  await rowOf(page, 'gone@example.com').getByText('Bounced').waitFor();
  await rowOf(page, 'gone@example.com')
    .getByText(/No such user/)
    .waitFor();
  await rowOf(page, 'quiet@example.com').getByText('Sent').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  assert.ok(
    (await page.getByRole('searchbox').boundingBox())!.width > 300,
    'what is searched is read to its end',
  );
  const choose = async (email: string, action: string): Promise<void> => {
    await page.getByRole('button', { name: `Invitation for ${email}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  await choose('gone@example.com', 'Send again');
  await rowOf(page, 'gone@example.com').getByText('Sent').waitFor();
  // Simulates a day.
  for (const change of [
    `update invitations set sent_at = sent_at - interval '1 day' where form_id = $1 and email like 'quiet%'`,
    `update mails set settled_at = settled_at - interval '1 day' where form_id = $1 and recipient like 'quiet%'`,
  ])
    await service.services.database.query(change, [form]);
  await page.getByRole('button', { name: 'Remind' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Send reminders' }).click();
  await page.getByText('1 person will be reminded.').waitFor();
  const reminders = await mail.waitFor('quiet@example.com', 2);
  assert.match(reminders[1]!.mail.subject!, /^Reminder/);
  await choose('quiet@example.com', 'Personal link');
  await page
    .getByRole('dialog')
    .getByText(/_invitation=/)
    .waitFor();
  await press(page, 'Escape');
  await choose('quiet@example.com', 'Revoke');
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await rowOf(page, 'quiet@example.com').getByText('Revoked').waitFor();
  browser.assertQuiet();
  await browser.leave(page);
});

test('an extra digit in the year of a date is refused and loses nothing already typed', {
  skip: isSlice,
}, async () => {
  const page = await open(`${await makeInvitedForm()}/invitations/new`);
  await page.getByRole('textbox', { name: 'Subject' }).fill('Please come');
  await page.getByLabel('Links work until').focus();
  await page.keyboard.type('123120301');
  assert.match(await page.getByLabel('Links work until').inputValue(), /^\d{4}-12-31$/);
  assert.equal(await page.getByRole('textbox', { name: 'Subject' }).inputValue(), 'Please come');
  await browser.leave(page);
});
