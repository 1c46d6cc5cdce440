import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { getDocumentProxy } from 'unpdf';
import { signIn } from '#test/console.ts';
import { openService, until } from '#test/service.ts';
import { element, stepsOf, structure } from '../ast/forms.ts';
import { type Engine, type EngineName, missingFor, openEngine } from './engines.ts';
import { keys, openTab, type Tab } from './tab.ts';

/*
 * npm run test:long -- browsers
 *
 * A whole form, the builder, the table of submissions and an embedded form in Firefox and WebKitGTK, the
 * engine of Safari. The other tests of screens run in Chromium.
 */

const service = await openService();
const named = await openService({}, { publicHost: 'localhost' });
const tenant = await service.makeTenant();
const owner = await signIn(service, { name: 'Ada', workspaceId: tenant.workspaceId });

const publish = async (form: unknown, settings: object = {}): Promise<string> => {
  const { status, body } = await tenant.call('POST', '/forms', { structure: form, publish: true, settings });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
};

/** The answers of the last submission. */
const lastAnswers = async (form: string): Promise<Record<string, unknown>> => {
  const { body } = await tenant.call('GET', `/forms/${form}/submissions`);
  return body.data[0]!.answers;
};

const whole = stepsOf(
  { title: 'About you' },
  [
    element('text', 'name', { label: 'Full name', required: true }),
    element('email', 'email', { label: 'Email address', required: true }),
    element('phone', 'phone', { label: 'Phone' }),
    element('url', 'site', { label: 'Website' }),
    element('number', 'years', { label: 'Years' }),
    element('date', 'day', { label: 'Day' }),
    element('time', 'hour', { label: 'Time' }),
    element('textarea', 'more', { label: 'More' }),
  ],
  { title: 'Choices' },
  [
    element('radio', 'size', { label: 'Size' }),
    element('multiple_choice', 'colors', { label: 'Colors' }),
    element('dropdown', 'seat', { label: 'Seat' }),
    element('yes_no', 'lunch', { label: 'Lunch?' }),
    element('rating', 'stars', { label: 'Stars' }),
    element('scale', 'again', { label: 'Again', from: 0, to: 10 }),
    element('ranking', 'order', { label: 'Order' }),
    element('consent', 'terms', { label: 'Terms', statement: 'I agree.', required: true }),
  ],
);

/** Types the parts of a date or time. In WebKit, an arrow key leads to the next part. */
async function typeMoment(tab: Tab, label: string, parts: readonly string[]): Promise<void> {
  await tab.run('arguments[0].focus()', await tab.find('.unread + input', label));
  const between = tab.engine.name === 'WebKit' ? keys.right : '';
  await tab.press(parts.join(between));
}

/** Fills in the first step by keyboard. */
async function fillFirstStep(tab: Tab): Promise<void> {
  await tab.type('input', 'Full name', 'Grace Hopper');
  await tab.type('input', 'Email address', 'grace@example.org');
  await tab.type('input', 'Phone', '+1 555 010 1111');
  await tab.type('input', 'Website', 'https://example.org');
  await tab.type('input', 'Years', '12');
  await typeMoment(tab, 'Day', ['05', '31', '2027']);
  await typeMoment(tab, 'Time', ['09', '30', 'AM']);
  await tab.type('textarea', 'More', `Two lines.${keys.enter}And one more.`);
}

async function fillSecondStep(tab: Tab): Promise<void> {
  const choose = (question: string, option: string) => tab.click(`[name="${question}"] + *, label`, option);
  await choose('size', 'Green');
  await tab.click('#colors-1, label:has([name=colors][value=Red])');
  await tab.run(
    `arguments[0].value = 'Blue'; arguments[0].dispatchEvent(new Event('change', { bubbles: true }))`,
    await tab.find('select', 'Seat'),
  );
  await tab.click('label:has([name=lunch])', 'Yes');
  await tab.click('label:has([name=stars][value="4"])');
  await tab.click('label:has([name=again][value="7"])');
  await tab.click('.ranks button', 'Move Green up');
  await tab.click('label:has([name=terms])');
}

/** Where the shown step begins in the window, and whether its heading has the focus. */
const stepState = (tab: Tab): Promise<{ top: number; title: string; scrolled: number }> =>
  tab.run(`
    const step = document.querySelector('form > .step:not([hidden])');
    return {
      top: Math.round(step.getBoundingClientRect().top),
      title: document.activeElement.innerText,
      scrolled: scrollY,
    };`);

/** Another site, whose pages embed the forms of this service. */
const pages = new Map<string, string>();
const host = createServer((request, response) => {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(pages.get(request.url ?? '') ?? '');
});
await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
after(() => host.close());
const site = `http://localhost:${(host.address() as AddressInfo).port}`;

/** Prints the window. @returns the number of pages. Firefox draws their text as shapes. */
async function countPrintedPages({ send }: Engine): Promise<number> {
  const pdf = (await send('print')) as string;
  return (await getDocumentProxy(new Uint8Array(Buffer.from(pdf, 'base64')))).numPages;
}

for (const name of ['Firefox', 'WebKit'] as const satisfies readonly EngineName[]) {
  const missing = missingFor(name);
  test(name, { skip: missing ?? false, timeout: 170_000 }, async (t) => {
    const engine = await openEngine(name);
    t.after(() => engine.close());
    const tab = openTab(engine);
    await tab.resize(1280, 900);

    await t.test('a whole form is filled in and sent, with Back to the top of the first step', async () => {
      const form = await publish(whole);
      await tab.open(`${service.url}/f/${form}`);
      await fillFirstStep(tab);
      await tab.click('button', 'Next');
      await tab.see('Choices', 'h2');
      for (const back of [() => tab.click('button', 'Back'), () => engine.send('back')]) {
        await tab.run('scrollTo(0, 9999)');
        await back();
        await tab.waitFor('the first step', `return document.activeElement.innerText === 'About you'`);
        // A browser that restores the scroll position does it after the event.
        await new Promise((resolve) => setTimeout(resolve, 300));
        assert.equal((await stepState(tab)).scrolled, 0);
        await tab.click('button', 'Next');
        await tab.see('Choices', 'h2');
      }
      await fillSecondStep(tab);
      await tab.click('button', 'Submit');
      await tab.see('Thank you');
      const { terms, ...answers } = await lastAnswers(form);
      assert.partialDeepStrictEqual(terms, { agreed: true });
      assert.deepEqual(answers, {
        name: 'Grace Hopper',
        email: 'grace@example.org',
        phone: '+1 555 010 1111',
        site: 'https://example.org',
        years: 12,
        day: '2027-05-31',
        hour: '09:30',
        more: 'Two lines.\nAnd one more.',
        size: 'Green',
        colors: ['Red'],
        seat: 'Blue',
        lunch: true,
        stars: 4,
        again: 7,
        order: ['Green', 'Red', 'Blue'],
      });
    });

    await t.test(
      'empty dates show their format, also on an Arabic page; ranks are beside the options',
      async () => {
        const form = await publish(
          structure(element('date', 'day'), element('time', 'hour'), element('ranking', 'order')),
        );
        for (const [language, side] of [
          ['en', 'left'],
          ['ar', 'right'],
        ] as const) {
          await tab.open(`${service.url}/f/${form}?_lang=${language}`);
          await tab.find('.ranks button');
          await tab.run('dispatchEvent(new Event("pointermove"))');
          if (name === 'WebKit') {
            await tab.see('mm/dd/yyyy', '.format');
            await tab.see('--:--', '.format');
          }
          const { direction, align } = await tab.run<{ direction: string; align: string }>(`
          const { direction, textAlign: align } = getComputedStyle(document.querySelector('[type=date]'));
          return { direction, align };`);
          assert.equal(direction, 'ltr');
          assert.ok([side, 'start'].includes(align), align);
          const offsets = await tab.run<number[]>(`
          return [...document.querySelectorAll('.ranks > .option')].map((option) => option.offsetHeight);`);
          assert.ok(Math.max(...offsets) < 60, `the number is beside the option: ${offsets.join()} px`);
        }
        await typeMoment(tab, 'The day', ['05', '31', '2027']);
        await tab.waitFor('the date', `return document.querySelector('[type=date]').value === '2027-05-31'`);
        await tab.waitFor('it without a format', `return !document.querySelector('[type=date].unset')`);
      },
    );

    await t.test('a form is built, published and opened in the builder', async () => {
      await tab.open(`${service.url}/app/sign-in`);
      const { name: cookie, value } = owner.cookies[0]!;
      await engine.send('addCookie', { cookie: { name: cookie, value, path: '/', httpOnly: true } });
      const form = (await tenant.call('POST', '/forms', { structure: structure(element('text', 'first')) }))
        .body.id;
      await tab.open(`${service.url}/app/forms/${form}`);
      await tab.click('button', 'Short text');
      // The canvas is in a shadow tree, so its text is read from the panel beside it.
      const label = `[...document.querySelectorAll('input')].find(({ labels }) => labels?.[0]?.innerText === 'Label')`;
      await tab.waitFor('the new question', `return ${label}?.value === 'Short text'`);
      await tab.press(`Your town${keys.enter}`);
      await tab.waitFor('its label', `return ${label}?.value === 'Your town'`);
      await tab.waitFor(
        'the draft to be saved',
        `return !!document.querySelector('[data-save-state=saved]')`,
      );
      for (const panel of ['Settings', 'Theme', 'Share', 'Preview', 'Design']) {
        await tab.click('[role=tab], [role=radio], .tabs a, a, button', panel);
        await tab.waitFor('the panel', `return !document.querySelector('.skeleton')`);
      }
      await tab.click('header button', 'Publish');
      await tab.click('[role=dialog] button', 'Publish');
      await tab.see('Your form is live');
      const published = (await tenant.call('GET', `/forms/${form}`)).body;
      assert.equal(published.status, 'published');
      assert.match(JSON.stringify(published.structure), /Your town/);
    });

    await t.test('the table shows, sorts and opens submissions, and columns are resized', async () => {
      const form = await publish(structure(element('text', 'name', { label: 'Name' })));
      for (const answer of ['Berta', 'Anna'])
        await tenant.call('POST', `/forms/${form}/submissions`, { answers: { name: answer } });
      await tab.open(`${service.url}/app/forms/${form}/submissions`);
      await tab.see('Anna', '.sheet-row');
      await tab.see('Berta', '.sheet-row');
      const width = (): Promise<number> =>
        tab.run(
          `return document.querySelector('.sheet-edge').closest('th, [role=columnheader]').offsetWidth`,
        );
      const before = await width();
      await tab.drag('.sheet-edge', undefined, { x: 60, y: 0 });
      await until('a wider column', async () => (await width()) > before + 40);
      await tab.click('.sheet-link');
      await tab.see('Anna', '.panel');
      // The driver of WebKit cannot print.
      if (name === 'Firefox') assert.equal(await countPrintedPages(engine), 1);
    });

    await t.test('an embedded form grows with its content, and its answers arrive', async () => {
      const form = await publish(structure(element('text', 'name', { label: 'Full name', required: true })));
      pages.set(
        `/${name}`,
        `<!doctype html><title>Shop</title><h1>Shop</h1>
        <script>heard = []; for (const event of ['loaded', 'submitted'])
          document.addEventListener('formloom:' + event, () => heard.push(event));</script>
        <script src="${service.url}/embed.js" data-form="${form}"></script>`,
      );
      await tab.open(`${site}/${name}`);
      await tab.waitFor('the form', `return heard.includes('loaded')`);
      await tab.waitFor('its height', `return document.querySelector('.formloom iframe').offsetHeight > 200`);
      await engine.send('enterFrame', { id: await tab.find('.formloom iframe') });
      await tab.click('input', 'Full name');
      await tab.press('Joan Clarke');
      await tab.click('button', 'Submit');
      await tab.see('Thank you');
      await engine.send('enterFrame', { id: null });
      await tab.waitFor('the event', `return heard.includes('submitted')`);
      assert.deepEqual(await lastAnswers(form), { name: 'Joan Clarke' });
    });

    await t.test('a form of two steps is filled in and sent without JavaScript', async (t) => {
      const form = await publish(whole);
      const plain = await openEngine(name, false);
      t.after(() => plain.close());
      const page = openTab(plain);
      await page.resize(1280, 900);
      await page.open(`${service.url}/f/${form}`);
      assert.equal(await page.run(`return matchMedia('(scripting: none)').matches`), true);
      await page.click('button', 'Next');
      await page.see('Enter your full name', '.summary');
      await fillFirstStep(page);
      await page.click('button', 'Next');
      await page.see('Choices', 'h2');
      await page.click('button', 'Back');
      await page.see('About you', 'h2');
      await page.click('button', 'Next');
      await page.see('Choices', 'h2');
      await page.click('label:has([name=size])', 'Green');
      await page.click('.ranks button', 'Move Green up');
      await page.see('Green', '.ranks');
      await page.click('label:has([name=terms])');
      await page.click('button', 'Submit');
      await page.see('Thank you');
      const answers = await lastAnswers(form);
      assert.partialDeepStrictEqual(answers, {
        name: 'Grace Hopper',
        day: '2027-05-31',
        hour: '09:30',
        size: 'Green',
      });
    });

    await t.test('a ranking is dragged and a step goes back by touch', async () => {
      const form = await publish(
        stepsOf({ title: 'One' }, [element('ranking', 'order', { label: 'Order' })], { title: 'Two' }, [
          element('text', 'name'),
        ]),
        { layout: 'question' },
      );
      await tab.open(`${service.url}/f/${form}`);
      await tab.find('.ranks button');
      await tab.drag('.ranks > .option:nth-of-type(2) > svg', undefined, { x: 0, y: -120 }, 'touch');
      await tab.waitFor(
        'the new order',
        `return document.querySelector('.ranks > .option > span').innerText === 'Green'`,
      );
      await tab.click('button', 'Next');
      await tab.see('Two', 'h2');
      // WebKitGTK turns a touch into a mouse.
      if (name === 'WebKit') return;
      await tab.drag('h2', 'Two', { x: 300, y: 0 }, 'touch');
      await tab.see('One', 'h2');
    });

    await t.test('a passkey is added and signs in, or is not offered', async () => {
      const person = await signIn(named, { name: 'Lin' });
      const { publicUrl } = named.services.config;
      await tab.open(`${publicUrl}/app/sign-in`);
      await tab.see('Sign in to Formloom');
      if (name === 'WebKit') {
        // WebKitGTK has no WebAuthn.
        assert.equal(await tab.run(`return 'PublicKeyCredential' in window`), false);
        assert.equal(await tab.run(`return document.body.innerText.includes('passkey')`), false);
        return;
      }
      await engine.send('authenticator', {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        isUserConsenting: true,
      });
      await tab.type('input', 'Email address', person.email);
      await tab.type('input', 'Password', `${person.password}${keys.enter}`);
      await tab.see('Forms', 'h1');
      await tab.open(`${publicUrl}/app/account`);
      await tab.click('button', 'Add passkey');
      await tab.find('[role=dialog]');
      await tab.press(`My laptop${keys.tab}${person.password}${keys.enter}`);
      await tab.click('[role=dialog] button', 'I have saved them');
      await tab.see('Passkey: My laptop');
      await engine.send('clearCookies');
      await tab.open(`${publicUrl}/app/account`);
      await tab.click('button', 'Sign in with a passkey');
      await tab.see('Your account', 'h1');
    });
  });
}
