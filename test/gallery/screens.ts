import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { ConsolePerson } from '#test/console.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { seedOrder, seedWorkshop } from '#test/workshop.ts';
import { computeTotpCode, totpStepAt } from '#workspaces/sign-in/two-factor-codes.ts';
import { element } from '../ast/forms.ts';
import { galleryForms } from './forms.ts';
import { browser, outside } from './stage.ts';

/**
 * A screen: its file name, its path, the selector that shows it is ready, and the steps before the
 * screenshot.
 */
export type Screen = readonly [
  name: string,
  path: string,
  ready: string,
  act?: (page: Page) => Promise<unknown>,
];

const slug = (label: string): string => label.toLowerCase().replaceAll(/\W+/g, '-').replace(/-$/, '');
export const h1 = (text: string): string => `h1:has-text("${text}")`;
const press =
  (name: string | RegExp, then = '[role="dialog"]') =>
  async (page: Page): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).first().click();
    await page.locator(then).first().waitFor();
  };
/** Returns a function that runs steps in order. */
const doing =
  (...acts: ((page: Page) => Promise<unknown>)[]) =>
  async (page: Page): Promise<void> => {
    for (const act of acts) await act(page);
  };
const choose = (menu: string | RegExp, item: string) => async (page: Page) => {
  await page.getByRole('button', { name: menu, exact: true }).first().click();
  await page.getByRole('menuitem', { name: item }).click();
  await page.locator('[role="dialog"], [role="alertdialog"]').first().waitFor();
};

const { visitor, receiver } = outside;
const tenant = await outside.makeTenant('Test');
const { workspaceId } = tenant;
const owner = await outside.signIn({ name: 'Anni Albers', workspaceId });
await outside.signIn({ name: 'Otti Berger', role: 'editor', workspaceId });
const newcomer = await outside.signIn({ name: 'Gunta Stölzl' });

const { form, webhook, failed, thanks } = await seedWorkshop({ outside, tenant, owner, visitor, receiver });
const order = await seedOrder({ tenant, visitor });
const [ordered] = (await tenant.call('GET', `/forms/${order}/submissions?per_page=1`)).body.data;
// Names and values of every length, as campaigns send them.
await tenant.call('PATCH', `/submissions/${ordered!.id}`, {
  reference: {
    utm_source: 'newsletter',
    utm_campaign: 'Spring courses in the old mill, for whoever was here before',
    gclid: 'Cj0KCQiAx9mABhD0ARIsAEfpavTZ3pF1XIpAqVg4hLrM8uXQnq2Wk7cJd5rYbTnE0sVfGz6mPaHtQoLkR',
    the_page_that_the_visitor_came_from: 'https://example.org/courses/weaving/spring?print=1',
    id: '7',
  },
});
const { structure, settings: quizSettings } = galleryForms.quiz((text) => text, '');
const made = await tenant.call('POST', '/forms', { structure, settings: quizSettings, publish: true });
assert.equal(made.status, 201, JSON.stringify(made.body));
const quiz = made.body.id;
for (const answers of [
  { name: 'Otti Berger', looms: 3 },
  { name: 'Anni Albers', red: 'Madder', looms: 12 },
])
  await openVisitor(outside).submit(quiz, answers);
const quiet = (await makeForm(tenant, [element('text', 'name')])).id;
const waitingSettings = { max_submissions: 1, waiting_list: true, slug: 'full-course' };
const waiting = (await makeForm(tenant, [element('text', 'name')], { settings: waitingSettings })).id;
for (const name of ['Anni Albers', 'Otti Berger', 'Gunta Stölzl'])
  await outside.visitor.submit(waiting, { name });
const scratch = (await makeForm(tenant, [element('text', 'name')], { publish: false })).id;
const draft = (await makeForm(tenant, [element('email', 'email')], { publish: false })).id;
for (const [id, labels] of [
  [form, ['Courses', 'Autumn 2026']],
  [draft, ['Courses']],
] as const)
  await tenant.call('PATCH', `/forms/${id}`, { labels });

const shareAs = async (body: object): Promise<string> => {
  const { body: share } = await tenant.call('POST', `/forms/${form}/shares`, body);
  return new URL((share as unknown as { url: string }).url).pathname;
};
const sharedSummary = await shareAs({ title: 'Weaving workshop: who comes' });
const sharedTable = await shareAs({ kind: 'table', expires_at: '2030-01-31' });

await outside.command('domain', 'verify', 'forms.weaving.example', '--workspace', workspaceId);
for (const domain of ['courses.weaving.example', 'anmeldung.weberei-am-alten-muehlbach.example'])
  await outside.command('domains', 'create', '--domain', domain, '--workspace', workspaceId);
await tenant.call('PATCH', `/forms/${form}`, { settings: { slug: 'weaving-workshop' } });

const forgetful = await outside.signIn({ name: 'Marianne Brandt' });
const reset = ['user', 'password', '--email', forgetful.email];
const { temporary_password: temporaryPassword } = await outside.command<{ temporary_password: string }>(
  ...reset,
);
const signInAnew = async (page: Page): Promise<void> => {
  await page.getByLabel('Email address').fill(forgetful.email);
  await page.getByLabel('Password').fill(temporaryPassword);
  await page.keyboard.press('Enter');
  await page.getByLabel('New password').waitFor();
};

/** Returns a person with an authenticator app and a passkey twice: signed in, and waiting for two-factor. */
async function secure(): Promise<{ inside: ConsolePerson; waiting: ConsolePerson }> {
  const person = await outside.signIn({ name: 'Lena Bergner' });
  const { password } = person;
  const { secret } = (await person.call<{ secret: string }>('POST', '/person/totp', { password })).body;
  const code = computeTotpCode(secret, totpStepAt(new Date()));
  const { status, headers } = await person.call('PUT', '/person/totp', { code });
  assert.equal(status, 200);
  const withCookie = (cookie: string): ConsolePerson => ({
    ...person,
    cookies: [{ ...person.cookies[0]!, value: cookie.split(';', 1)[0]!.split('=', 2)[1]! }],
  });
  const inside = withCookie(headers.getSetCookie()[0]!);
  const page = await browser.open('/app/account', inside);
  await addPasskey(page, password);
  await page.context().close();
  return { inside, waiting: await outside.signInAgain(person) };
}

async function addPasskey(page: Page, password: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const answers = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true };
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true, ...answers },
  });
  await press('Add passkey')(page);
  await page.getByLabel('Passkey name').fill('My laptop');
  await page.getByLabel('Your password').fill(password);
  await page.keyboard.press('Enter');
  await page.getByText('Passkey: My laptop').waitFor();
}
const secured = await secure();
const withPassword =
  (then: string) =>
  async (page: Page): Promise<void> => {
    await page.getByLabel('Your password').fill(owner.password);
    await page.keyboard.press('Enter');
    await page.locator(then).first().waitFor();
  };
await owner.api('POST', '/webhooks', {
  url: 'https://93.184.215.14/services/T0/B0',
  events: ['submission.created'],
  format: 'slack',
});
const chooseTemplate = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: /Format/ }).click();
  await page.getByRole('option', { name: 'Custom JSON' }).click();
  await page.getByLabel('Template').fill('{ "text": "{{form_name}}", "all": "{{submission.responses}}" }');
};
const strict = await outside.signIn({ name: 'Ruth Consemüller' });
await strict.api('PATCH', '/workspace', { second_factor_required: true });

const beforeSignIn: readonly Screen[] = [
  ['sign-in', '/app/sign-in', h1('Sign in')],
  ['forgot-password', '/app/forgot-password', 'h1'],
  ['page', `/f/${form}`, h1('Weaving workshop')],
  ['page-errors', `/f/${form}`, h1('Weaving workshop'), press('Next', '[role="alert"]')],
  ['page-confirmation', thanks, h1('Thank you')],
  ['results', sharedSummary, 'h1'],
  ['results-table', sharedTable, 'h1'],
  ['nowhere', '/app/nowhere', 'h1'],
  ['api-docs', '/api/v1/docs', 'h1'],
  ['new-password', '/app/sign-in', h1('Sign in'), signInAnew],
];
const secondStep: readonly Screen[] = [
  ['second-step', '/app/', h1('Two-factor authentication')],
  [
    'second-step-recovery',
    '/app/',
    h1('Two-factor authentication'),
    press('Use a recovery code', 'text=Each works once'),
  ],
];
const account: readonly Screen[] = [
  ['account-secured', '/app/account', 'text=Passkey: My laptop'],
  [
    'account-passkey-actions',
    '/app/account',
    'text=Passkey: My laptop',
    press('Actions for My laptop', '[role="menu"]'),
  ],
  [
    'account-passkey-rename',
    '/app/account',
    'text=Passkey: My laptop',
    choose('Actions for My laptop', 'Rename'),
  ],
  [
    'account-passkey-remove',
    '/app/account',
    'text=Passkey: My laptop',
    choose('Actions for My laptop', 'Remove'),
  ],
  ['account-app-remove', '/app/account', 'text=Passkey: My laptop', press('Remove app')],
  [
    'account-recovery-codes',
    '/app/account',
    'text=Passkey: My laptop',
    doing(press('Get new codes'), withPassword('.recovery-codes')),
  ],
];
const secondStepAsked: readonly Screen[] = [
  ['second-step-asked', '/app/', h1('Two-factor authentication required')],
];
const newWorkspace: readonly Screen[] = [['forms-empty', '/app/', '.template']];

const forms = `/app/w/${workspaceId}/forms`;
const settings = `/app/w/${workspaceId}/settings`;
const inForm = `/app/forms/${form}`;
const inOrder = `/app/forms/${order}`;
const openFirst = async (page: Page): Promise<void> => {
  await page.locator('.sheet-link').first().click();
  await page.getByRole('region', { name: 'Answers' }).waitFor();
};
const filtered = new URLSearchParams({
  where: JSON.stringify([{ on: 'answer', name: 'wishes', op: 'filled' }]),
}).toString();
const compared = new URLSearchParams({
  compare: JSON.stringify({ name: 'level', values: ['Beginner', 'Advanced'] }),
}).toString();
const grouped = new URLSearchParams({
  where: JSON.stringify([
    { on: 'answer', name: 'years', op: 'number', from: 3 },
    {
      on: 'group',
      op: 'any',
      parts: [
        { on: 'answer', name: 'level', op: 'any', values: ['Beginner', 'Advanced'] },
        { on: 'answer', name: 'lunch', op: 'equals', value: true },
      ],
    },
  ]),
}).toString();
const write = (name: string, text: string) => async (page: Page) => {
  await page.getByRole('combobox', { name }).pressSequentially(text);
  await page.getByRole('option').first().waitFor();
};
const find = async (page: Page): Promise<void> => {
  await page.keyboard.press('Control+k');
  await page.getByRole('option').first().waitFor();
};
/** Screens that cover the window are photographed as the window shows them. */
const asWindow = async (): Promise<void> => {};
const onPaper = (page: Page): Promise<void> => page.emulateMedia({ media: 'print' });
/** Completes the change, so that the toast shows its Undo. */
const tagThem = doing(
  (page) => selectPage(page),
  press('Tag'),
  async (page) => {
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Add tags' }).fill('Called back');
    await dialog.getByRole('button', { name: /^Tag \d+/ }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
  },
);
/** Loses the connection, then requests a page. */
const loseLine = async (page: Page): Promise<void> => {
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText('It will load when the service responds again.').first().waitFor();
};
const chooseFile = async (page: Page): Promise<void> => {
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Choose file' }).click(),
  ]);
  const lines = [
    'Full name,Email address,Years of weaving,Arrived',
    'Ada,ada@example.org,4,yes',
    'Ben,ben,x,no',
  ];
  await chooser.setFiles({
    name: 'answers.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(lines.join('\n')),
  });
  await page.getByRole('heading', { name: 'Preview' }).waitFor();
};
const findPerson = async (page: Page): Promise<void> => {
  await page.getByLabel('Email address, number or answer').fill('visitor-30@example.org');
  await page.getByRole('button', { name: 'Find person' }).click();
  await page.getByText('Weaving workshop').first().waitFor();
};
const toReference = (page: Page): Promise<void> => toHeading('Reference data')(page);
const toHistory = (page: Page): Promise<void> =>
  page.getByRole('heading', { name: 'History' }).scrollIntoViewIfNeeded();
const selectBy =
  (label: string) =>
  (page: Page): Promise<void> =>
    page.locator(`label:has(input[aria-label="${label}"])`).click();
const selectPage = selectBy('Select all submissions on this page');
/** An address can only be invited a few times an hour, so each look uses a new one. */
const inviteAnew = async (page: Page): Promise<void> => {
  const { data } = (await owner.api<{ data: { id: string }[] }>('GET', '/members/invitations')).body;
  for (const { id } of data) await owner.api('DELETE', `/members/invitations/${id}`);
  await owner.api('POST', '/members', { email: `benita.${Date.now()}@example.org`, role: 'editor' });
  await page.reload();
};
const isFound = (page: Page): Promise<void> => page.locator('.finder mark').first().waitFor();
const inside: readonly Screen[] = [
  ['forms', forms, 'table'],
  [
    'forms-selected',
    forms,
    '.label-link',
    (page) => page.getByText('Form', { exact: true }).first().locator('..').locator('.check').click(),
  ],
  ['forms-label', forms, 'table', choose('Actions for Weaving workshop', 'Label')],
  ['forms-create', forms, 'table', press('Create form', '.template')],
  [
    'forms-create-search',
    forms,
    'table',
    doing(press('Create form', '.template'), async (page) => {
      await page.getByRole('dialog').getByRole('searchbox').fill('signature');
    }),
  ],
  [
    'forms-create-import',
    forms,
    'table',
    doing(press('Create form', '.template'), async (page) => {
      await page.getByRole('tab', { name: 'Import' }).click();
      await page
        .getByLabel('Questions, CSV or JSON')
        .fill('# About you\nName *\nEmail *\n\nHow did you come?\n- Train\n- On foot\n???');
      await page.frameLocator('iframe').getByText('On foot').waitFor();
    }),
  ],
  ['forms-delete', forms, 'table', choose('Actions for Weaving workshop', 'Delete')],
  ['submissions', `${inForm}/submissions`, '.sheet-row'],
  [
    'submissions-search',
    `${inForm}/submissions`,
    '.sheet-row',
    write('Search submissions', '"of weaving" -refund sta'),
  ],
  ['submissions-search-help', `${inForm}/submissions`, '.sheet-row', press('How to search')],
  ['find', forms, 'table', find],
  [
    'find-answers',
    forms,
    'table',
    doing(find, write('Search forms, submissions and settings', 'weav* '), isFound),
  ],
  ['submissions-selected', `${inForm}/submissions`, '.sheet-row', selectPage],
  [
    'submissions-status',
    `${inForm}/submissions`,
    '.sheet-row',
    doing(selectPage, choose('Status', 'Mark as incomplete')),
  ],
  ['submissions-tag', `${inForm}/submissions`, '.sheet-row', doing(selectPage, press('Tag'))],
  [
    'submissions-delete',
    `${inForm}/submissions`,
    '.sheet-row',
    doing(selectPage, press('Delete', '[role="alertdialog"]')),
  ],
  ['submissions-undo', `${inForm}/submissions`, '.sheet-row', tagThem],
  ['submissions-columns', `${inForm}/submissions`, '.sheet-row', press('Columns')],
  ['submissions-export', `${inForm}/submissions`, '.sheet-row', press('Export', '[role="menu"]')],
  [
    'submissions-time',
    `${inForm}/submissions`,
    '.sheet-row',
    press(/^Any time/, '[role="dialog"], [role="listbox"]'),
  ],
  ['submissions-nothing', `${inForm}/submissions?q=velvet`, 'text=No matches'],
  ['submissions-offline', `${inForm}/submissions`, '.sheet-row', loseLine],
  ['submission', `${inForm}/submissions`, '.sheet-link', openFirst],
  [
    'submission-page',
    `${inForm}/submissions`,
    '.sheet-link',
    async (page) => {
      await openFirst(page);
      await page.getByRole('link', { name: 'Open as a page' }).click();
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
  ],
  ['submission-print', `${inForm}/submissions`, '.sheet-link', doing(openFirst, onPaper)],
  ['submission-history', `${inForm}/submissions`, '.sheet-link', doing(openFirst, toHistory)],
  ['submission-reference', `${inOrder}/submissions`, '.sheet-link', doing(openFirst, toReference)],
  [
    'submission-reference-edit',
    `${inOrder}/submissions`,
    '.sheet-link',
    doing(openFirst, press('Edit reference data', '.reference-line'), toReference),
  ],
  [
    'submission-end',
    `${inOrder}/submissions`,
    '.sheet-link',
    doing(openFirst, (page) => toEnd('Print')(page)),
  ],
  [
    'submission-delete',
    `${inForm}/submissions`,
    '.sheet-link',
    doing(openFirst, press('Delete', '[role="alertdialog"]')),
  ],
  [
    'submission-edit',
    `${inForm}/submissions`,
    '.sheet-link',
    doing(openFirst, press('Edit answers', 'form')),
  ],
  ['spam', `${inForm}/spam`, 'tbody tr'],
  ['spam-empty', `/app/forms/${quiet}/spam`, 'text=No spam'],
  [
    'submissions-waiting',
    `/app/forms/${waiting}/submissions?status=waiting`,
    '.sheet-link',
    async (page) => {
      await openFirst(page);
      await page.getByText('Position').waitFor();
    },
  ],
  ['submissions-empty', `/app/forms/${quiet}/submissions`, 'text=No submissions yet'],
  ['summary-quiz', `/app/forms/${quiz}/summary`, '.element-figure'],
  [
    'submission-quiz',
    `/app/forms/${quiz}/submissions`,
    '.sheet-link',
    doing(openFirst, (page) => toEnd('Certificate')(page)),
  ],
  ['submissions-quiz', `/app/forms/${quiz}/submissions`, '.sheet-link'],
  ['summary-empty', `/app/forms/${quiet}/summary`, 'h1'],
  ['spam-selected', `${inForm}/spam`, 'tbody tr', selectBy('Select all on this page')],
  ['spam-held', `${inForm}/spam`, 'tbody tr', press('Grace Hopper')],
  ['trash', `${inForm}/trash`, 'tbody .selectable-cell'],
  ['trash-selected', `${inForm}/trash`, 'tbody .selectable-cell', selectBy('Select all on this page')],
  ['trash-empty', `/app/forms/${quiet}/trash`, 'text=The trash is empty'],
  ['trash-delete', `${inForm}/trash`, 'tbody .selectable-cell', press('Empty trash', '[role="alertdialog"]')],
  [
    'submissions-filter',
    `${inForm}/submissions?${filtered}`,
    '.filter-chip',
    press('Add filter', '[role="menu"]'),
  ],
  [
    'submissions-filter-edit',
    `${inForm}/submissions?${grouped}`,
    '.filter-group',
    press(/^Edit filter: Experience/, '.filter-editor'),
  ],
  ['summary', `${inForm}/summary`, '.standing-plot'],
  ['summary-share', `${inForm}/summary`, '.standing-plot', press('Share results', '.shares')],
  [
    'summary-share-create',
    `${inForm}/summary`,
    '.standing-plot',
    doing(press('Share results', '.shares'), press('Create link', 'text=Asks for personal data')),
  ],
  [
    'summary-share-edit',
    `${inForm}/summary`,
    '.standing-plot',
    doing(press('Share results', '.shares'), press(/^Edit/, 'text=Save')),
  ],
  ['summary-print', `${inForm}/summary`, '.standing-plot', onPaper],
  ['summary-compare', `${inForm}/summary?${filtered}&${compared}`, '.compare-groups'],
  ['webhooks-empty', `/app/forms/${quiet}/webhooks`, 'text=No webhooks yet'],
  ['webhooks', `${inForm}/webhooks`, 'text=Last 24 hours'],
  ['webhook-add', `${inForm}/webhooks`, 'text=Last 24 hours', press('Add webhook')],
  ['webhook-log', `${inForm}/webhooks/${webhook}`, 'tbody tr'],
  [
    'delivery',
    `${inForm}/webhooks/${webhook}?delivery=${failed}`,
    'text=The receiver returned 404',
    asWindow,
  ],
  ['webhook-edit', `${inForm}/webhooks/${webhook}`, 'tbody tr', choose(/^Actions for 127/, 'Edit')],
  [
    'webhook-filter',
    `${inForm}/webhooks`,
    'text=Last 24 hours',
    doing(press('Add webhook'), press('Add condition', '.logic-comparison')),
  ],
  ['workspace-webhooks', `${settings}/webhooks`, 'text=Last 24 hours'],
  [
    'webhook-template',
    `${settings}/webhooks`,
    'text=Last 24 hours',
    doing(press('Add webhook'), chooseTemplate, press('Preview', 'text=Body for the last submission')),
  ],
  ['webhook-replay', `${inForm}/webhooks/${webhook}`, 'tbody tr', press('Resend…')],
  ['keys', `${settings}/keys`, 'table'],
  ['keys-create', `${settings}/keys`, 'table', press('Create key')],
  ['keys-requests', `${settings}/keys`, 'table', choose('Actions for Website', 'Recent requests')],
  ['keys-rotate', `${settings}/keys`, 'table', choose('Actions for Website', 'Rotate')],
  ['members', `${settings}/members`, 'table'],
  ['members-add', `${settings}/members`, 'table', press('Invite member')],
  ['members-link', `${settings}/members`, 'table', doing(inviteAnew, press(/^New link/))],
  ['general', `${settings}/general`, h1('General')],
  ['mail', `${settings}/mail`, 'h1'],
  ['members-role', `${settings}/members`, 'table', press(/Role of Otti Berger/, '[role="listbox"]')],
  ['domains', `${settings}/domains`, 'text=TXT record name'],
  [
    'domains-verify',
    `${settings}/domains`,
    'text=TXT record name',
    press('Verify courses.weaving.example', '.message-bad'),
  ],
  ['retention', `${settings}/retention`, 'h1'],
  ['retention-change', `${settings}/retention`, 'table', press('Change submissions')],
  ['people', `${settings}/people`, 'h1'],
  ['people-found', `${settings}/people`, 'h1', findPerson],
  ['activity', `${settings}/activity`, 'h1'],
  ['all-submissions', `/app/w/${workspaceId}/submissions`, 'h1'],
  ['all-submissions-search', `/app/w/${workspaceId}/submissions?q=weav*`, 'mark'],
  ['import', `${inForm}/import`, 'h1'],
  ['import-preview', `${inForm}/import`, 'h1', chooseFile],
  ['invitations-empty', `${inOrder}/invitations`, 'text=No invitations yet'],
  ['invitations', `${inForm}/invitations`, 'h1'],
  ['invitations-new', `${inForm}/invitations/new`, 'h1'],
  ['account', '/app/account', h1('Your account')],
  ['account-app', '/app/account', h1('Your account'), press('Set up')],
  [
    'account-app-code',
    '/app/account',
    h1('Your account'),
    doing(press('Set up'), withPassword('[role="img"]')),
  ],
  ['account-passkey', '/app/account', h1('Your account'), press('Add passkey')],
  ['general-second-step', `${settings}/general`, h1('General'), press('Require two-factor', '.lacking')],
  ['order-submissions', `${inOrder}/submissions`, '.sheet-row'],
  ['order-submission', `${inOrder}/submissions`, '.sheet-link', openFirst],
  [
    'order-submission-edit',
    `${inOrder}/submissions`,
    '.sheet-link',
    doing(openFirst, press('Edit answers', 'form')),
  ],
  ['order-summary', `${inOrder}/summary`, '.standing-plot'],
];

const show = (view: string) => (page: Page) =>
  page.getByRole('navigation', { name: 'Form views' }).getByRole('button', { name: view }).click();
const select = (label: string) => (page: Page) =>
  page.locator(`.canvas-body [aria-label^="“${label}”"]`).click();
const alsoSelect = (label: string) => (page: Page) =>
  page.locator(`.canvas-body [aria-label^="“${label}”"]`).click({ modifiers: ['Shift'] });
/** Presses a key that opens something. */
const pressKey = (key: string) => async (page: Page) => {
  await page.keyboard.press(key);
  await page.locator('[role="dialog"], [role="alertdialog"]').first().waitFor();
};
/** Opens the properties of the selection if they are not beside it. */
const properties = async (page: Page): Promise<void> => {
  const button = page.locator('.canvas-foot').getByRole('button', { name: 'Properties' });
  if (await button.isVisible()) await button.click();
};
/** Scrolls to a heading. */
const toHeading = (name: string) => (page: Page) =>
  page
    .getByRole('heading', { name, exact: true })
    .evaluate((heading) => heading.scrollIntoView({ block: 'start' }));
const toLogic = (page: Page): Promise<void> =>
  page.getByRole('heading', { name: 'Logic', exact: true }).scrollIntoViewIfNeeded();
/** Scrolls to the button at the end of a list. */
const toEnd = (name: string) => (page: Page) => page.getByRole('button', { name }).scrollIntoViewIfNeeded();
const toDetails = (page: Page): Promise<void> =>
  page.locator('.option-details').getByRole('textbox').last().scrollIntoViewIfNeeded();
const inBuilder: readonly Screen[] = [
  ['builder', inForm, '.canvas-body'],
  ...['Preview', 'Theme', 'Settings', 'Share', 'History', 'JSON'].map(
    (view) => [`builder-${view.toLowerCase()}`, inForm, '.canvas-body', show(view)] as const,
  ),
  ...['QR code', 'Embed'].map(
    (part) =>
      [
        `builder-share-${slug(part)}`,
        inForm,
        '.canvas-body',
        doing(show('Share'), (page) => page.locator('svg.qr-code').waitFor(), toHeading(part)),
      ] as const,
  ),
  ['builder-selected', inForm, '.canvas-body', select('Experience')],
  ['builder-logic', inForm, '.canvas-body', doing(select('Years of weaving'), properties, toLogic)],
  ['builder-several', inForm, '.canvas-body', doing(select('Phone'), alsoSelect('Experience'), properties)],
  ['builder-deletion', inForm, '.canvas-body', doing(select('Full name'), pressKey('Delete'))],
  [
    'builder-rules',
    inForm,
    '.canvas-body',
    doing(select('Experience'), pressKey('Delete'), async (page) => {
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText(/depends? on this/).waitFor();
    }),
  ],
  [
    'builder-quiz-question',
    `/app/forms/${quiz}`,
    '.canvas-body',
    doing(select('Which colours do you like?'), properties, toHeading('Quiz')),
  ],
  ['builder-quiz-score', `/app/forms/${quiz}`, '.canvas-body', doing(select('Total'), properties)],
  [
    'builder-quiz-settings',
    `/app/forms/${quiz}`,
    '.canvas-body',
    doing(show('Settings'), toHeading('After a submission')),
  ],
  ['builder-shortcuts', inForm, '.canvas-body', doing(select('Phone'), pressKey('?'))],
  [
    'builder-paste-list',
    inForm,
    '.canvas-body',
    doing(select('Experience'), properties, press('Paste a list', '.dialog textarea')),
  ],
  [
    'builder-publish-problems',
    `/app/forms/${scratch}`,
    '.canvas-body',
    doing(
      // From the second run on, it has no label.
      (page) => page.locator('.canvas-body [aria-label*="Short text"]').last().click(),
      properties,
      (page) => page.getByRole('textbox', { name: 'Label' }).fill(''),
      async (page) => {
        if ((await page.getByRole('dialog').count()) > 0) await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      },
      press('Publish', '.publish-problems'),
    ),
  ],
  [
    'builder-compare',
    `/app/forms/${scratch}`,
    '.canvas-body',
    doing(show('History'), press('Compare and restore')),
  ],
  ['builder-insert', inForm, '.canvas-body', doing(select('Experience'), (page) => page.keyboard.press('/'))],
  ...[
    'The banner',
    'The terms',
    'Which cloth?',
    'Price',
    'How did you like these?',
    'Privacy',
    'Your signature',
    'Source',
  ].map(
    (label) =>
      [`builder-order-${slug(label)}`, inOrder, '.canvas-body', doing(select(label), properties)] as const,
  ),
  [
    'builder-option',
    inOrder,
    '.canvas-body',
    doing(select('Which cloth?'), properties, press('Details of option 1', '.option-details'), toDetails),
  ],
  ['builder-languages', inOrder, '.canvas-body', show('Languages')],
  ['builder-confirmations', inOrder, '.canvas-body', doing(show('Settings'), toEnd('Add a confirmation'))],
  ['builder-notifications', inOrder, '.canvas-body', doing(show('Settings'), toEnd('Add an email'))],
  [
    'builder-email-preview',
    inOrder,
    '.canvas-body',
    doing(show('Settings'), press('Preview email 1', '[role="dialog"] .drawn-page')),
  ],
  ['builder-order-json', inOrder, '.canvas-body', show('JSON')],
  ['builder-publish', `/app/forms/${draft}`, '.canvas-body', press('Publish')],
  [
    'builder-published',
    `/app/forms/${draft}`,
    '.canvas-body',
    doing(press('Publish'), async (page) => {
      await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
      await page.getByRole('img', { name: /QR code/ }).waitFor();
    }),
  ],
];
const onPhone: readonly Screen[] = [
  ['builder-steps', inForm, '.canvas-body', press('Steps')],
  [
    'builder-more',
    inForm,
    '.canvas-body',
    doing(select('Experience'), press('More actions', '[role="menu"]')),
  ],
];

/** Screens of one person. `isPhone` marks those that only a narrow window has. */
export type ScreenGroup = {
  readonly name: string;
  readonly screens: readonly Screen[];
  readonly person?: ConsolePerson;
  readonly isPhone?: true;
  readonly before?: () => Promise<unknown>;
};

/** Every screen of the console, by person. */
export const screenGroups: readonly ScreenGroup[] = [
  { name: 'outside the console', screens: beforeSignIn },
  { name: 'the second step', screens: secondStep, person: secured.waiting },
  { name: 'a secured account', screens: account, person: secured.inside },
  { name: 'a second step that is required', screens: secondStepAsked, person: strict },
  { name: 'a new workspace', screens: newWorkspace, person: newcomer },
  { name: 'the console', screens: inside, person: owner },
  {
    name: 'the builder',
    screens: inBuilder,
    person: owner,
    before: () => tenant.call('POST', `/forms/${draft}/unpublish`),
  },
  { name: 'the builder on a phone', screens: onPhone, person: owner, isPhone: true },
];
