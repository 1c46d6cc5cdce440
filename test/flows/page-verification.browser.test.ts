import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBarriers, openConsoleBrowser } from '#test/console-browser.ts';
import { openMailServer } from '#test/mail-server.ts';
import { publishForm } from '#test/paper.ts';
import { openService } from '#test/service.ts';
import { element, stepsOf } from '../ast/forms.ts';
import { field, pressButton, wake } from './page-script-stage.ts';

/** `verify` of email elements on the page with its script. */

const server = await openMailServer();
const service = await openService({ SMTP_URL: server.url, MAIL_FROM: 'forms@formloom.test' });
const tenant = await service.makeTenant();
const browser = await openConsoleBrowser(service);

test('the page asks for a code after Submit, and keeps nothing in the window', async () => {
  const structure = stepsOf(
    { title: 'You' },
    [element('email', 'email', { verify: true, help_text: 'For the tickets.' })],
    { title: 'More' },
    [element('text', 'name')],
  );
  const form = await publishForm(tenant, structure, { locale: 'en' });
  const page = await browser.open(`/f/${form}`);
  await wake(page);
  await field(page, 'email').fill('ada@example.test');
  await pressButton(page, 'Next');
  await field(page, 'name').fill('Ada');
  await pressButton(page, 'Submit');
  await page.getByLabel('Code', { exact: true }).waitFor();
  await wake(page);
  assert.deepEqual(await findBarriers(page), []);
  if (process.env['SHOTS']) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.screenshot({ path: `${process.env['SHOTS']}/verify-1280.png`, fullPage: true });
    await page.setViewportSize({ width: 375, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.screenshot({ path: `${process.env['SHOTS']}/verify-375.png`, fullPage: true });
  }
  const codeOf = async (known: number): Promise<string> =>
    (await server.waitForOne('ada@example.test', known)).mail.subject!.slice(0, 6);
  await codeOf(0);
  await pressButton(page, 'Send again');
  const code = await codeOf(1);
  await wake(page);
  const enter = async (text: string): Promise<void> => {
    await page.getByLabel('Code', { exact: true }).fill(text);
    await pressButton(page, 'Next');
    await pressButton(page, 'Submit');
  };
  await enter(code === '000000' ? '000001' : '000000');
  await page.locator('.summary', { hasText: 'This code is wrong or has expired.' }).waitFor();
  await enter(code);
  await page.waitForURL(/\/submitted\?receipt=/);
  assert.equal(await page.evaluate('sessionStorage.length'), 0);
  const [only] = (await tenant.call('GET', `/forms/${form}/submissions`)).body.data;
  assert.equal(only!.answers.name, 'Ada');
  assert.ok(only!.metadata.fields.email!.verified_at);
  await browser.leave(page);
});
