import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { element, structure } from '../ast/forms.ts';
import { isSlice } from '../cases.ts';
import { signIn } from '../console.ts';
import { findBarriers, openConsoleBrowser, payloads } from '../console-browser.ts';
import { openMailServer } from '../mail-server.ts';
import { openService, until } from '../service.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_PER_MINUTE: '60000',
});
const browser = await openConsoleBrowser(service);
const owner = await signIn(service, { name: payloads[0] });
const settings = `/app/w/${owner.workspaceId}/settings`;
const password = 'a password of my own';

/** Returns the link of an email's button on this machine. */
async function linkIn(email: string, path: string, known = 0): Promise<string> {
  const { mail } = await server.waitForOne(email, known);
  const found = new RegExp(`(/app/${path}/\\S+)`).exec(mail.text!);
  return found![1]!;
}

test('a member invited by email creates an account with the link and joins the workspace', async () => {
  const page = await browser.open(`${settings}/members`, owner);
  await page.getByRole('button', { name: 'Invite member' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email address').fill('not-an-address');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await dialog.getByText('Enter a valid email address').waitFor();
  await dialog.getByLabel('Email address').fill('nora@example.org');
  assert.deepEqual(await findBarriers(page), []);
  await dialog.getByRole('button', { name: 'Invite' }).click();
  const open = page.getByRole('region', { name: 'Pending invitations' });
  await open.getByText('nora@example.org').waitFor();
  assert.deepEqual(await findBarriers(page), []);

  const guest = await browser.open(await linkIn('nora@example.org', 'join'));
  await guest.getByRole('heading', { name: 'Join Test' }).waitFor();
  assert.deepEqual(await findBarriers(guest), []);
  await guest.getByLabel('Your name').fill('Nora');
  await guest.getByLabel('Password').fill(password);
  await guest.keyboard.press('Enter');
  await guest.getByRole('heading', { name: 'Forms', exact: true }).waitFor();
  await browser.leave(guest);

  await page.reload();
  await page.getByRole('region', { name: 'Members' }).getByText('Nora', { exact: true }).waitFor();
  assert.equal(await open.count(), 0, 'the invitation is used up');
  await browser.leave(page);
});

test('a withdrawn invitation says so, and a person with an account signs in and joins', {
  skip: isSlice,
}, async () => {
  const known = await signIn(service);
  const page = await browser.open(`${settings}/members`, owner);
  for (const email of ['gone@example.org', known.email]) {
    await page.getByRole('button', { name: 'Invite member' }).click();
    await page.getByRole('dialog').getByLabel('Email address').fill(email);
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  const gone = await linkIn('gone@example.org', 'join');
  await page.getByRole('button', { name: 'Revoke the invitation for gone@example.org' }).click();
  await page.getByText('The invitation for gone@example.org was revoked.').waitFor();
  const guest = await browser.open(gone);
  await guest.getByRole('heading', { name: 'This invitation is not valid' }).waitFor();

  await guest.goto(service.url + (await linkIn(known.email, 'join')));
  await guest.getByRole('link', { name: 'Sign in' }).click();
  await guest.getByLabel('Email address').fill(known.email);
  await guest.getByLabel('Password').fill(known.password);
  await guest.getByRole('button', { name: 'Sign in', exact: true }).click();
  await guest.getByRole('button', { name: 'Join workspace' }).click();
  await guest.getByText('Welcome to the workspace.').waitFor();
  await browser.leave(guest);
  await browser.leave(page);
});

test('a forgotten password can be replaced through an email', { skip: isSlice }, async () => {
  const person = await signIn(service);
  const page = await browser.open('/app/sign-in');
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor();
  await page.getByLabel('Email address').fill(person.email);
  assert.deepEqual(await findBarriers(page), []);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Check your inbox').waitFor();
  const link = await linkIn(person.email, 'reset-password');
  await page.goto(service.url + link);
  await page.getByLabel('New password').fill('short');
  await page.getByRole('button', { name: 'Save and sign in' }).click();
  await page.getByText('The password must have 10 to 128 characters.').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.getByLabel('New password').fill(password);
  await page.getByRole('button', { name: 'Save and sign in' }).click();
  await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor();
  await page.goto(service.url + link);
  await page.getByLabel('New password').fill(password);
  await page.getByRole('button', { name: 'Save and sign in' }).click();
  await page.getByText('This link was already used').waitFor();
  await browser.leave(page);
});

test('the email log shows failures and reasons, resends emails and tests the mail server', async () => {
  server.treat('refused@example.org', 'refuse recipient');
  await owner.api('POST', '/members', {
    email: 'refused@example.org',
    role: 'viewer',
  });
  await until('the mail to fail', async () => {
    const { rowCount } = await service.services.database.query("select from mails where state = 'failed'");
    return rowCount === 1;
  });
  const page = await browser.open(`${settings}/mail`, owner);
  const row = page.getByRole('row').filter({ hasText: 'refused@example.org' });
  await row.getByText('The mail server rejected the recipient: 550 5.1.1 No such user').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.getByRole('button', { name: 'All emails Show' }).click();
  await page.getByRole('option', { name: 'Failed (1)' }).click();
  await page.waitForURL(/state=failed/);
  await row.getByRole('button', { name: 'Send again to refused@example.org' }).click();
  await page.getByText('The email to refused@example.org will be sent again.').waitFor();
  await server.waitForOne('refused@example.org');

  await page.getByLabel('To').fill('wrong@example.org');
  server.treat('wrong@example.org', 'refuse recipient');
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByRole('status').getByText('550 5.1.1 No such user').waitFor();
  await page.getByLabel('To').fill('right@example.org');
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByText('The mail server accepted the email: 250 Accepted').waitFor();
  await page.setViewportSize({ width: 375, height: 800 });
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  assert.equal(isWide, false, 'nothing is wider than a phone');
  await browser.leave(page);
});

test('form settings mark addresses of people who are not members, and accept them', {
  skip: isSlice,
}, async () => {
  const made = await owner.api<{ id: string }>('POST', '/forms', {
    structure: structure(element('text', 'a')),
    publish: true,
  });
  const page = await browser.open(`/app/forms/${made.body.id}`, owner);
  const views = page.getByRole('navigation', { name: 'Form views' });
  await views.getByRole('button', { name: 'Settings' }).click();
  const field = page.getByLabel('Notify by email');
  await field.fill(`${owner.email.toUpperCase()}, elsewhere@example.com`);
  const warning = page.getByText('elsewhere@example.com is not a member of this workspace');
  await warning.waitFor();
  await field.fill(owner.email);
  await warning.waitFor({ state: 'detached' });
  await browser.leave(page);
});

test('an author words the receipt of a form, sees a preview, and sends a test to their own address', async () => {
  const author = await signIn(service, { workspaceId: owner.workspaceId, role: 'editor' });
  const { body: form } = await author.api<{ id: string }>('POST', '/forms', {
    structure: structure(element('email', 'mail', { label: 'Email' })),
    settings: { receipt_email_element: 'mail' },
  });
  const page = await browser.open(`/app/forms/${form.id}`, author);
  await page
    .getByRole('navigation', { name: 'Form views' })
    .getByRole('button', { name: 'Settings' })
    .click();
  await page.getByLabel('Subject of the receipt').fill('See you soon');
  const message = page.getByLabel('Message of the receipt');
  await message.fill('Hello **you** ');
  const insert = page.locator('.insertable', { has: message }).getByRole('button');
  await insert.click();
  await page.getByRole('menuitem', { name: 'All answers' }).click();
  await page.getByRole('button', { name: 'Replies to the receipt go to' }).click();
  await page.getByRole('option', { name: 'An address' }).click();
  await page.getByLabel('Reply address of the receipt').fill('help@example.org');
  await page.getByText('Attach the PDF to the receipt').click();
  assert.deepEqual(await findBarriers(page), []);
  await page.getByRole('button', { name: 'Preview the receipt' }).click();
  const dialog = page.getByRole('dialog', { name: 'Email preview' });
  await dialog.getByText('See you soon').waitFor();
  await dialog.getByText('Replies go to help@example.org').waitFor();
  await dialog.frameLocator('iframe').getByText('you', { exact: true }).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  const { mail } = await server.waitForOne(author.email);
  assert.equal(mail.subject, 'Test: See you soon');
  await dialog.getByRole('button', { name: 'Done' }).click();
  const words = {
    subject: 'See you soon',
    message: 'Hello **you** {{answers}}',
    reply_to: 'help@example.org',
    attach_pdf: true,
  };
  await until('the working copy to be saved', async () => {
    const { body } = await author.api<{ settings: { receipt?: object } }>('GET', `/forms/${form.id}/draft`);
    return isDeepStrictEqual(body.settings.receipt, words);
  });
  await browser.leave(page);
});

test('no page threw an error, and no name ran as a script', () => browser.assertQuiet());
