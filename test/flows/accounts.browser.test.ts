import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Locator, Response } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import {
  findBarriers,
  heading,
  openConsoleBrowser,
  press,
  tabTo,
  type,
  write,
} from '#test/console-browser.ts';
import { openProvider, providerSettings } from '#test/provider.ts';
import { callApi, freePort, openService } from '#test/service.ts';
import { setTemporaryPassword } from '#workspaces/accounts/users.ts';
import { createKey } from '#workspaces/keys.ts';
import { computeTotpCode, totpStepAt } from '#workspaces/sign-in/two-factor-codes.ts';
import { createSetupToken } from '#workspaces/workspaces.ts';
import { readNextPath } from '../../web/account/next.ts';
import { element, structure } from '../ast/forms.ts';

/* Accounts, workspaces, members and keys in a real browser on the built console, with the keyboard only. */

const service = await openService();
const console = await openConsoleBrowser(service);
/** Passkeys are bound to a host name. */
const providerPort = await freePort();
const named = await openService(
  {
    ...providerSettings(providerPort),
  },
  { publicHost: 'localhost' },
);
const provider = await openProvider(providerPort, () => named.services.config.publicUrl);
const passkeys = await openConsoleBrowser({ ...named, url: named.services.config.publicUrl });
const run = promisify(execFile);

test('the setup link creates the first account, signs it in and opens the console', {
  skip: isSlice,
}, async () => {
  const token = (await createSetupToken(service.services.database))!;
  const page = await console.open(`/app/setup?token=${token}`);
  await page.getByLabel('Email address').fill('first@example.org');
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByLabel('Workspace name').fill('Acme');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Formloom is ready' }).waitFor();
  const key = (await page.locator('code').first().textContent())!;
  await page.getByRole('button', { name: 'Copy API key' }).click();
  await page.getByText('Copied', { exact: true }).waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), key);
  await page.getByRole('button', { name: 'Copy example request' }).click();
  assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), /^curl .*fl_/);
  assert.equal((await callApi(service.url, key, 'GET', '/forms')).status, 200);
  await page.getByRole('button', { name: 'Create your first form' }).click();
  await heading(page, 'Forms');
  await page.getByText('Create your first form.').waitFor();
  await page.getByRole('button', { name: /Workspace: Acme/ }).waitFor();
  await console.leave(page);
});

test('signing in by keyboard opens the requested page, and a wrong password shows an error and can be retyped', async () => {
  const person = await signIn(service, { name: 'Ada' });
  const wanted = `/app/w/${person.workspaceId}/settings/members`;
  const page = await console.open(wanted);
  await heading(page, 'Sign in to Formloom');
  await write(page, person.email);
  await press(page, 'Tab');
  await write(page, 'not the password');
  await press(page, 'Enter');
  await page.getByRole('alert').getByText('The email address or password is wrong.').waitFor();
  await write(page, person.password);
  await press(page, 'Enter');
  await heading(page, 'Members');
  assert.equal(new URL(page.url()).pathname, wanted);

  await tabTo(page, 'button', /Ada/);
  await press(page, 'Enter', 'End', 'Enter');
  await heading(page, 'Sign in to Formloom');
  await page.goBack();
  await heading(page, 'Sign in to Formloom');
  await console.leave(page);
});

test('a sign-in link never redirects to another site', async () => {
  const person = await signIn(service);
  for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)'])
    assert.equal(readNextPath(next), '/');
  const page = await console.open('/app/sign-in?next=%2F%2Fevil.example');
  await page.getByLabel('Email address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await press(page, 'Enter');
  await heading(page, 'Forms');
  assert.equal(new URL(page.url()).host, new URL(service.url).host);
  await console.leave(page);
});

test('a session that is ended elsewhere leads to sign-in and back', async () => {
  const person = await signIn(service);
  const page = await console.open('/app/account', person);
  await heading(page, 'Your account');
  await page.getByText('This browser', { exact: true }).waitFor();
  // Typed before the session ends. Otherwise a card that is still loading would open the sign-in page and
  // remove the field.
  await page.getByLabel('Name', { exact: true }).fill('Ada');
  await service.services.database.query('delete from sessions where user_id = $1', [person.userId]);
  await press(page, 'Enter');
  await heading(page, 'Sign in to Formloom');
  await page.getByLabel('Email address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await press(page, 'Enter');
  await heading(page, 'Your account');
  await console.leave(page);
});

test('changing the password keeps only this browser signed in', { skip: isSlice }, async () => {
  const person = await signIn(service);
  const third = await console.open('/app/sign-in');
  await heading(third, 'Sign in to Formloom');
  await write(third, person.email);
  await press(third, 'Tab');
  await write(third, person.password);
  await press(third, 'Enter');
  await heading(third, 'Forms');
  const page = await console.open('/app/account', person);
  await heading(page, 'Your account');
  await page.getByText('This browser', { exact: true }).waitFor();
  await tabTo(page, 'button', /Sign out Chrome/);
  await press(page, 'Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Your password').fill(person.password);
  await dialog.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByText('The browser was signed out.').waitFor();
  await third.reload();
  await heading(third, 'Sign in to Formloom');
  await console.leave(third);
  await page.getByLabel('Current password').fill('wrong');
  await page.getByLabel('New password').fill('short');
  await press(page, 'Enter');
  await page.getByText('The password must have 10 to 128 characters.').waitFor();
  await page.getByLabel('New password').fill('a new long password');
  await press(page, 'Enter');
  await page.getByText('The current password is wrong.').waitFor();
  await page.getByLabel('Current password').fill(person.password);
  await press(page, 'Enter');
  await page.locator('[data-save-state]', { hasText: 'Saved' }).waitFor();
  await page.reload();
  await heading(page, 'Your account');
  const other = await console.open('/app/account', person);
  await heading(other, 'Sign in to Formloom');
  await console.leave(page);
  await console.leave(other);
});

test('a workspace can be created, renamed and switched from by keyboard', { skip: isSlice }, async () => {
  const person = await signIn(service, { name: 'Ada' });
  const page = await console.open('/app/', person);
  await heading(page, 'Forms');
  await tabTo(page, 'button', /Workspace: Test/);
  await press(page, 'Enter', 'End', 'Enter');
  await page.getByRole('dialog', { name: 'Create workspace' }).waitFor();
  await press(page, 'Enter');
  await page.getByText('A name is required.').waitFor();
  await type(page, 'Second');
  await press(page, 'Enter');
  await page.getByRole('button', { name: /Workspace: Second/ }).waitFor();

  await tabTo(page, 'link', 'General');
  await press(page, 'Enter');
  await heading(page, 'General');
  await page.getByText('Enterprise').waitFor();
  await tabTo(page, 'textbox', 'Name');
  await press(page, 'ControlOrMeta+a');
  await type(page, 'Renamed');
  await press(page, 'Enter');
  await page.getByRole('button', { name: /Workspace: Renamed/ }).waitFor();

  await tabTo(page, 'button', /Workspace: Renamed/);
  await press(page, 'Enter');
  await type(page, 'Test');
  await press(page, 'Enter');
  await page.waitForURL(new RegExp(person.workspaceId));
  await page.goto(`${service.url}/app/`);
  await page.waitForURL(new RegExp(`${person.workspaceId}/forms`));
  await console.leave(page);
});

test('a member can be invited by a copied link, join, get another role and be removed, by keyboard', {
  skip: isSlice,
}, async () => {
  const owner = await signIn(service, { name: 'Owner' });
  const page = await console.open(`/app/w/${owner.workspaceId}/settings/members`, owner);
  await tabTo(page, 'button', 'Invite member');
  await press(page, 'Enter');
  await write(page, 'new@example.org');
  await press(page, 'Enter');
  await page.getByRole('dialog', { name: 'Copy invitation link' }).waitFor();
  const link = (await page.getByRole('textbox', { name: 'Invitation link' }).textContent())!;
  await tabTo(page, 'button', 'Done');
  await press(page, 'Enter');
  await page.getByRole('rowheader', { name: /new@example.org/ }).waitFor();

  const newcomer = await console.open(new URL(link).pathname);
  await heading(newcomer, 'Join Test');
  await newcomer.getByRole('link', { name: 'Sign in' }).waitFor();
  assert.deepEqual(await findBarriers(newcomer), []);
  await write(newcomer, 'Newcomer');
  await press(newcomer, 'Tab');
  await write(newcomer, 'new.example.org');
  await press(newcomer, 'Enter');
  await newcomer.getByText(/This password consists of your email address, your name/).waitFor();
  await newcomer.getByLabel('Password').fill('a password of my own');
  await press(newcomer, 'Enter');
  await heading(newcomer, 'Forms');
  await tabTo(newcomer, 'button', /Workspace: Test/);
  await press(newcomer, 'Enter');
  await newcomer.getByRole('menuitem', { name: /Test/ }).waitFor();
  assert.equal(await newcomer.getByRole('menuitem', { name: 'Create workspace' }).count(), 0);
  await console.leave(newcomer);

  await page.reload();
  await page.getByRole('rowheader', { name: /Newcomer/ }).waitFor();
  await tabTo(page, 'button', /Role of Newcomer/);
  // The list is reloaded after the toast, so this window has seen all earlier changes by others.
  const isList = (response: Response): boolean =>
    response.request().method() === 'GET' && response.url().endsWith('/api/v1/members');
  const viewerListed = page.waitForResponse(isList);
  await press(page, 'Enter', 'Home', 'Enter');
  await page.getByText('The role of Newcomer is now viewer.').waitFor();
  await viewerListed;
  const { database } = service.services;
  const { rows } = await database.query<{ id: string }>(
    "select id from users where email = 'new@example.org'",
  );

  const partner = await signIn(service, { name: 'Partner', workspaceId: owner.workspaceId, role: 'admin' });
  const promote = async (role: string) =>
    assert.equal((await partner.api('PATCH', `/members/${rows[0]!.id}`, { role })).status, 200);
  await promote('editor');
  await tabTo(page, 'button', /Role of Newcomer/);
  await press(page, 'Enter', 'End', 'ArrowUp', 'Enter');
  const again = page.getByRole('alertdialog', { name: 'Still make Newcomer admin?' });
  await again.getByText('Partner changed this member').waitFor();
  await again.getByText('Role: viewer → editor').waitFor();
  await tabTo(page, 'button', 'Change role');
  const adminListed = page.waitForResponse(isList);
  await press(page, 'Enter');
  await page.getByText('The role of Newcomer is now admin.').waitFor();
  await adminListed;
  await promote('viewer');
  await tabTo(page, 'button', 'Remove Newcomer');
  await press(page, 'Enter', 'Tab');
  await tabTo(page, 'button', 'Remove member');
  await press(page, 'Enter');
  const removal = page.getByRole('alertdialog', { name: 'Remove Newcomer?' });
  await removal.getByText('Partner changed this member').waitFor();
  await removal.getByText('Role: admin → viewer').waitFor();
  await press(page, 'Escape');
  await createKey(database, { workspaceId: owner.workspaceId, name: 'Theirs', createdBy: rows[0]!.id });
  await page.reload();
  await page.getByRole('rowheader', { name: /Newcomer/ }).waitFor();

  await tabTo(page, 'button', 'Remove Newcomer');
  await press(page, 'Enter');
  await page.getByRole('switch', { name: /Revoke the API key they created/, checked: true }).waitFor();
  await tabTo(page, 'button', 'Remove member');
  await press(page, 'Enter');
  await page.getByText('Newcomer was removed, and their keys were revoked.').waitFor();
  await page.getByRole('rowheader', { name: /Newcomer/ }).waitFor({ state: 'detached' });

  await tabTo(page, 'button', 'Remove Owner');
  await press(page, 'Enter');
  await tabTo(page, 'button', 'Remove member');
  await press(page, 'Enter');
  await page.getByText('This is the last owner. Make another member an owner first.').waitFor();
  await press(page, 'Escape');
  await console.leave(page);
});

test('a person who signs in with a temporary password must first choose another one', {
  skip: isSlice,
}, async () => {
  const { email } = await signIn(service);
  const { temporaryPassword } = await setTemporaryPassword(service.services.database, email);
  const page = await console.open('/app/sign-in');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(temporaryPassword);
  await press(page, 'Enter');
  await heading(page, 'Choose your own password');
  await page.goto(`${service.url}/app/account`);
  await heading(page, 'Choose your own password');
  assert.deepEqual(await findBarriers(page), []);
  await tabTo(page, 'textbox', 'Temporary password');
  await write(page, temporaryPassword);
  await press(page, 'Tab');
  await write(page, 'a password of my own');
  await press(page, 'Enter');
  await heading(page, 'Your account');
  await console.leave(page);
});

/** Returns how many groups of a key are on each of its lines. */
const groupsOfLines = async (key: Locator): Promise<number[]> => {
  const tops = await key
    .locator('span:not(:has(span))')
    .evaluateAll((groups) => groups.map((group) => (group as unknown as { offsetTop: number }).offsetTop));
  return [...Map.groupBy(tops, (top) => top).values()].map(({ length }) => length);
};

test('an authenticator app can be set up, is required at the next sign-in, and a recovery code can replace it', {
  skip: isSlice,
}, async () => {
  const person = await signIn(service, { name: 'Ada' });
  const page = await console.open('/app/account', person);
  await tabTo(page, 'button', 'Set up');
  await press(page, 'Enter');
  await page.getByRole('dialog', { name: 'Set up an authenticator app' }).waitFor();
  await write(page, 'not the password');
  await press(page, 'Enter');
  await page.getByText('The password is wrong.').waitFor();
  await page.getByLabel('Your password').fill(person.password);
  await press(page, 'Enter');
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  const shown = page.getByRole('textbox', { name: 'Key, if you cannot scan the code' });
  const secret = (await shown.textContent())!;
  for (const width of [1280, 375, 320]) {
    await page.setViewportSize({ width, height: 800 });
    const lines = (await groupsOfLines(shown)).join();
    assert.ok(lines === '8' || lines === '4,4', `groups in each line at ${width} px: ${lines}`);
  }
  await shown.click();
  assert.equal(await page.evaluate('getSelection().toString()'), secret, 'what is copied');
  await page.setViewportSize({ width: 1280, height: 800 });
  // No code is accepted twice. The next code is also valid and stays so for half a minute, however slow the
  // screens are.
  const nextCode = () => computeTotpCode(secret, totpStepAt(new Date()) + 1);
  await page.getByLabel('Code shown in the app').fill('000000');
  await press(page, 'Enter');
  await page.getByText("Check that your phone's clock is correct").waitFor();
  await page.getByLabel('Code shown in the app').fill(computeTotpCode(secret, totpStepAt(new Date())));
  await press(page, 'Enter');
  await page.getByRole('dialog', { name: 'Save your recovery codes' }).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  const codes = await page.getByRole('list', { name: 'Recovery codes' }).locator('code').allTextContents();
  assert.equal(codes.length, 10);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'formloom-recovery-codes.txt');
  await tabTo(page, 'button', 'I have saved them');
  await press(page, 'Enter');
  await page.getByText('10 left').waitFor();
  assert.equal((await page.content()).includes(codes[0]!), false, 'they are shown once');

  for (const [way, typed] of [
    ['Code from your authenticator app', nextCode],
    ['Recovery code', () => codes[0]!],
  ] as const) {
    const again = await console.open('/app/account');
    await again.getByLabel('Email address').fill(person.email);
    await again.getByLabel('Password').fill(person.password);
    await press(again, 'Enter');
    await heading(again, 'Two-factor authentication');
    if (way === 'Recovery code') {
      assert.deepEqual(await findBarriers(again), []);
      await again.goto(`${service.url}/app/account`);
      await heading(again, 'Two-factor authentication');
      await tabTo(again, 'button', 'Use a recovery code');
      await press(again, 'Enter');
    }
    await again.getByLabel(way).waitFor();
    await type(again, 'wrong');
    await press(again, 'Enter');
    await again.getByText('This code is wrong or was already used. Enter another code.').waitFor();
    await type(again, typed());
    await press(again, 'Enter');
    await heading(again, 'Your account');
    await console.leave(again);
  }
  await page.reload();
  await page.getByText('9 left').waitFor();
  await tabTo(page, 'button', 'Remove app');
  await press(page, 'Enter');
  await write(page, person.password);
  await press(page, 'Enter');
  await page.getByRole('button', { name: 'Set up' }).waitFor();
  await console.leave(page);
});

test('a passkey can be added, renamed and removed; it signs in without a password or as second step', async () => {
  const person = await signIn(named, { name: 'Ada' });
  const page = await passkeys.open('/app/sign-in');
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await page.getByLabel('Email address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await press(page, 'Enter');
  await heading(page, 'Forms');
  await page.goto(`${named.services.config.publicUrl}/app/account`);
  await tabTo(page, 'button', 'Add passkey');
  await press(page, 'Enter');
  await write(page, 'My laptop');
  await press(page, 'Tab');
  await write(page, person.password);
  assert.deepEqual(await findBarriers(page), []);
  await press(page, 'Enter');
  await page.getByRole('dialog', { name: 'Save your recovery codes' }).waitFor();
  await tabTo(page, 'button', 'I have saved them');
  await press(page, 'Enter');
  await page.getByText('Passkey: My laptop').waitFor();
  assert.deepEqual(await findBarriers(page), []);

  const leave = async (): Promise<void> => {
    await page.context().clearCookies();
    await page.goto(`${named.services.config.publicUrl}/app/account`);
    await heading(page, 'Sign in to Formloom');
  };
  await leave();
  await tabTo(page, 'button', 'Sign in with a passkey');
  await press(page, 'Enter');
  await heading(page, 'Your account');
  await leave();
  await page.getByLabel('Email address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await press(page, 'Enter');
  await heading(page, 'Two-factor authentication');
  // A refused passkey shows an error here and opens no other page.
  const { database } = named.services;
  await database.query("update passkeys set credential_id = 'x' || credential_id");
  await tabTo(page, 'button', 'Sign in with a passkey');
  await press(page, 'Enter');
  await page.getByText('This passkey is unknown.').waitFor();
  await heading(page, 'Two-factor authentication');
  await database.query('update passkeys set credential_id = substr(credential_id, 2)');
  await tabTo(page, 'button', 'Sign in with a passkey');
  await press(page, 'Enter');
  await heading(page, 'Your account');

  await tabTo(page, 'button', 'Actions for My laptop');
  await press(page, 'Enter', 'Enter');
  await press(page, 'ControlOrMeta+a');
  await type(page, 'Desk');
  await press(page, 'Enter');
  await page.getByText('Passkey: Desk').waitFor();
  await tabTo(page, 'button', 'Actions for Desk');
  await press(page, 'Enter', 'End', 'Enter');
  await page.getByRole('dialog', { name: 'Remove Desk?' }).waitFor();
  await write(page, person.password);
  await press(page, 'Enter');
  await page.getByText('Passkey: Desk').waitFor({ state: 'detached' });
  await leave();
  await tabTo(page, 'button', 'Sign in with a passkey');
  await press(page, 'Enter');
  await page.getByText('This passkey is unknown.').waitFor();
  await session.send('WebAuthn.disable');
  await passkeys.leave(page);
});

test('signing in with an identity provider opens the requested page, and a refusal shows an error', {
  skip: isSlice,
}, async () => {
  provider.person = { sub: 'ada', email: 'ada@example.org', email_verified: true, name: 'Ada' };
  const page = await passkeys.open('/app/account');
  await heading(page, 'Sign in to Formloom');
  await page.getByRole('button', { name: 'Continue with Example' }).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await tabTo(page, 'button', 'Continue with Example');
  await press(page, 'Enter');
  await heading(page, 'Your account');
  await page.getByText('You sign in as ada@example.org.').waitFor();
  await page.getByRole('button', { name: 'Add passkey' }).waitFor();
  assert.equal(await page.getByLabel('Current password').count(), 0);
  await tabTo(page, 'button', 'Set up');
  await press(page, 'Enter');
  await page.getByText('Your account has no password. You can set one').waitFor();
  await tabTo(page, 'button', 'Continue');
  await press(page, 'Enter');
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  await passkeys.leave(page);

  provider.person = { sub: 'eve', email: 'eve@example.com', email_verified: true };
  const refused = await passkeys.open('/app/sign-in');
  await refused.getByRole('button', { name: 'Continue with Example' }).click();
  await heading(refused, 'You are not signed in');
  await refused.getByText('no confirmed email address in an allowed domain').waitFor();
  assert.deepEqual(await findBarriers(refused), []);
  await refused.getByRole('link', { name: 'Back to sign-in' }).click();
  await heading(refused, 'Sign in to Formloom');
  await passkeys.leave(refused);
});

test('an owner sees who lacks two-factor before requiring it, and those members must set it up first', {
  skip: isSlice,
}, async () => {
  const owner = await signIn(service, { name: 'Owner' });
  const member = await signIn(service, { name: 'Grace', workspaceId: owner.workspaceId, role: 'editor' });
  const { workspaceId } = owner;
  const page = await console.open(`/app/w/${workspaceId}/settings/general`, owner);
  await tabTo(page, 'button', 'Require two-factor');
  await press(page, 'Enter');
  const question = page.getByRole('alertdialog', { name: 'Require two-factor?' });
  await question.getByText('2 of 2 have not set up').waitFor();
  await question.getByText('Grace').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await question.getByRole('button', { name: 'Require two-factor' }).press('Enter');
  await page.getByText('Two-factor is now required for all members.').waitFor();
  await console.leave(page);

  const { body: form } = await callApi(
    service.url,
    (await createKey(service.services.database, { workspaceId, name: 'Key' })).key,
    'POST',
    '/forms',
    {
      structure: structure(element('text', 'a')),
    },
  );
  const theirs = await console.open(`/app/forms/${form.id}`, member);
  await heading(theirs, 'Two-factor authentication required');
  for (const path of ['/app/', `/app/w/${workspaceId}/settings/members`]) {
    await theirs.goto(service.url + path);
    await heading(theirs, 'Two-factor authentication required');
  }
  assert.deepEqual(await findBarriers(theirs), []);
  await tabTo(theirs, 'button', 'Set up');
  await press(theirs, 'Enter');
  await write(theirs, member.password);
  await press(theirs, 'Enter');
  const secret = (await theirs
    .getByRole('textbox', { name: 'Key, if you cannot scan the code' })
    .textContent())!;
  await theirs.getByLabel('Code shown in the app').fill(computeTotpCode(secret, totpStepAt(new Date())));
  await press(theirs, 'Enter');
  await theirs.getByRole('dialog', { name: 'Save your recovery codes' }).waitFor();
  await tabTo(theirs, 'button', 'I have saved them');
  await press(theirs, 'Enter');
  await tabTo(theirs, 'button', 'Continue');
  await press(theirs, 'Enter');
  await heading(theirs, 'Members');
  await console.leave(theirs);
});

test('a key can be created, copied, used with the displayed command and revoked, by keyboard', {
  skip: isSlice,
}, async () => {
  const owner = await signIn(service);
  const page = await console.open(`/app/w/${owner.workspaceId}/settings/keys`, owner);
  await page.getByText('No API keys yet').waitFor();
  await tabTo(page, 'button', 'Create key');
  await press(page, 'Enter');
  await type(page, 'Export');
  await press(page, 'Enter');
  await page.getByRole('dialog', { name: 'Your key “Export”' }).waitFor();
  await tabTo(page, 'button', 'Copy API key');
  await press(page, 'Enter');
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const key = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.match(key, /^fl_[\w-]{43}$/);
  const command = (await page.getByRole('textbox', { name: 'Example request' }).textContent())!;
  const { stdout } = await run('sh', ['-c', `${command} --silent`]);
  assert.deepEqual((JSON.parse(stdout) as { data: unknown[] }).data, []);
  await tabTo(page, 'button', 'I have saved it');
  await press(page, 'Enter');

  const row = page.getByRole('row', { name: /Export/ });
  await row.getByText(`${key.slice(0, 11)}…`).waitFor();
  await row.getByText('All data').waitFor();
  await row.getByText('does not expire').waitFor();
  assert.equal((await page.content()).includes(key), false, 'it is shown once');
  await tabTo(page, 'button', 'Actions for Export');
  await press(page, 'Enter', 'End', 'Enter');
  await tabTo(page, 'button', 'Revoke key');
  await press(page, 'Enter');
  await row.getByText('Revoked').waitFor();
  assert.equal((await callApi(service.url, key, 'GET', '/forms')).status, 401);
  await console.leave(page);
});

test('no script failed, and the content security policy blocked none', () => {
  console.assertQuiet();
});
