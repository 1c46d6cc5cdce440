import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeInstance } from '#test/process.ts';
import { openReceiver, type ReceivedRequest } from '#test/receiver.ts';
import { callApi, until } from '#test/service.ts';
import { verifySignature } from '#webhooks/signature.ts';

/*
 * The main path, from an empty directory to a webhook, through a real process and only from outside. It
 * covers what an operator, a developer, a visitor and a receiver see. The tests are its steps in order.
 */
const secret = 'a secret that only the two of us know';
/** Seconds after the first failure, the second and the third. */
const retryDelays = [0.3, 0.6, 0.2];

const structure = {
  type: 'form',
  attrs: { name: 'Job application', description: 'Tell us who you are.' },
  children: [
    {
      type: 'step',
      attrs: { title: 'You', layout: 'stack' },
      children: [
        { type: 'text', attrs: { id: 'subject', label: 'Position', required: true }, children: [] },
        { type: 'email', attrs: { id: 'email', label: 'Email', required: true }, children: [] },
        { type: 'textarea', attrs: { id: 'letter', label: 'Letter' }, children: [] },
        { type: 'yes_no', attrs: { id: 'remote', label: 'Remote?' }, children: [] },
        { type: 'file_upload', attrs: { id: 'cv', label: 'CV' }, children: [] },
      ],
    },
  ],
};
const cv = Buffer.from('%PDF-1.4\nA life in bytes: \u00e9\u{1f600}\n%%EOF\n');

type Line = {
  id: string;
  event: string;
  status: string;
  attempts: number;
  response_status: number | null;
  next_attempt_at: string | null;
};
type Sent = {
  event: string;
  delivery_id: string;
  submission: {
    id: string;
    responses: object;
    reference_data: object;
    file_uploads: Record<string, { filename: string; url: string; size: number; content_type: string }[]>;
  };
};

const receiver = await openReceiver();
const instance = await makeInstance({ WEBHOOK_RETRY_DELAYS: retryDelays.join() });
await instance.start();
let key: string;
let form: { id: string; public_url: string };
let fileUrl: string;
let webhook: { id: string; secret?: string };

const call = (method: string, path: string, body?: unknown) => callApi(instance.url, key, method, path, body);
const deliveries = async () =>
  (await instance.cli<{ data: Line[] }>('delivery list', '--webhook', webhook.id)).data;
const read = ({ body }: ReceivedRequest): Sent => JSON.parse(body.toString()) as Sent;

/** Submits the page like a browser and returns the submission's ID from the address of the confirmation. */
async function submit(subject: string): Promise<string> {
  const answers = new FormData();
  answers.set('subject', subject);
  answers.set('email', 'ada@example.com');
  answers.set('letter', 'I have been tuning pianos for years.');
  answers.set('remote', 'true');
  answers.set('cv', new File([cv], 'My CV.pdf', { type: 'application/pdf' }));
  const response = await fetch(`${form.public_url}?utm_source=mail`, {
    method: 'POST',
    body: answers,
    redirect: 'manual',
  });
  assert.equal(response.status, 303, await response.text());
  const confirmation = new URL(response.headers.get('location')!, form.public_url);
  const page = await fetch(confirmation);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /Job application/);
  return confirmation.searchParams.get('receipt')!;
}

test('the command line creates a workspace and a key', async () => {
  const workspace = await instance.cli<{ id: string; plan: string }>(
    'workspace create',
    'Pianos',
    '--plan',
    'pro',
  );
  assert.equal(workspace.plan, 'pro');
  ({ key } = await instance.cli<{ key: string }>(
    'key create',
    '--workspace',
    workspace.id,
    '--name',
    'Main job',
  ));
});

test('POST /forms with `publish` creates a form whose `public_url` shows it', async () => {
  const created = await call('POST', '/forms', { structure, publish: true });
  assert.equal(created.status, 201);
  assert.equal(created.body.status, 'published');
  form = created.body;
  const page = await fetch(form.public_url);
  assert.equal(page.status, 200);
  const markup = await page.text();
  for (const shown of ['Job application', 'name="subject"', 'type="file"'])
    assert.ok(markup.includes(shown), shown);
});

test('the command line adds a webhook and shows its secret once', async () => {
  webhook = await instance.cli(
    'webhook create',
    '--form',
    form.id,
    '--url',
    receiver.url,
    '--events',
    'submission.created,submission.deleted',
    '--secret',
    secret,
  );
  assert.equal(webhook.secret, secret);
  const listed = await instance.cli<object>('webhook list', '--form', form.id);
  assert.doesNotMatch(JSON.stringify(listed), new RegExp(secret));
});

test('a submission can be read, its file downloaded, and search finds it', async () => {
  receiver.replyWith(500, 503, 200);
  const id = await submit('Piano tuner');

  const { status, body } = await call('GET', `/submissions/${id}`);
  assert.equal(status, 200);
  const file = (
    body.answers['cv'] as { filename: string; size: number; content_type: string; url: string }[]
  )[0]!;
  assert.deepEqual(
    { ...body.answers, cv: [{ ...file, id: '', url: '' }] },
    {
      subject: 'Piano tuner',
      email: 'ada@example.com',
      letter: 'I have been tuning pianos for years.',
      remote: true,
      cv: [{ id: '', filename: 'My CV.pdf', size: cv.length, content_type: 'application/pdf', url: '' }],
    },
  );
  assert.deepEqual(body.metadata.reference, { utm_source: 'mail' });

  fileUrl = file.url;
  const download = await fetch(fileUrl);
  assert.equal(download.status, 200);
  assert.match(download.headers.get('content-disposition')!, /^attachment/);
  assert.deepEqual(Buffer.from(await download.arrayBuffer()), cv);

  for (const q of ['piano', 'tuning pianos', 'ADA@example.com']) {
    const found = await call('GET', `/submissions/search?q=${encodeURIComponent(q)}`);
    assert.deepEqual(
      found.body.data.map((each) => each.id),
      [id],
      q,
    );
  }
  assert.equal((await call('GET', `/forms/${form.id}`)).body.submission_count, 1);
});

test('the webhook is signed and retried on schedule with one delivery ID until the receiver answers 200', async () => {
  const requests = await receiver.waitFor(3);
  for (const { headers, body } of requests) {
    assert.ok(verifySignature(secret, body, headers['x-service-signature'] as string));
    assert.equal(headers['x-service-event'], 'submission.created');
    assert.equal(headers['x-service-delivery-id'], read(requests[0]!).delivery_id);
    assert.match(headers['user-agent']!, /\/\d/);
  }
  const gaps = requests.slice(1).map(({ at }, index) => (at - requests[index]!.at) / 1_000);
  gaps.forEach((gap, index) => {
    const delay = retryDelays[index]!;
    assert.ok(
      gap >= delay && gap < delay + 5,
      `${delay} s were due after failure ${index + 1}, and it took ${gap} s`,
    );
  });
  const { submission } = read(requests[2]!);
  assert.deepEqual(submission.reference_data, { utm_source: 'mail' });
  const upload = submission.file_uploads['cv']![0]!;
  assert.equal(upload.filename, 'My CV.pdf');
  assert.deepEqual(Buffer.from(await (await fetch(upload.url)).arrayBuffer()), cv);
});

test('the delivery log shows these attempts', async () => {
  const [line, ...others] = await until('the delivery to be settled', async () => {
    const lines = await deliveries();
    return lines[0]?.status === 'Success' && lines;
  });
  assert.deepEqual(others, []);
  assert.equal(line!.id, read(receiver.requests[0]!).delivery_id);
  const { event, attempts, response_status, next_attempt_at } = line!;
  assert.deepEqual(
    { event, attempts, response_status, next_attempt_at },
    { event: 'submission.created', attempts: 3, response_status: 200, next_attempt_at: null },
  );
});

test('a permanently failed delivery can be resent manually, immediately and with its delivery ID', async () => {
  receiver.replyWith(410, 200);
  await submit('Organ builder');
  const [failed] = await until('the delivery to fail', async () => {
    const lines = await deliveries();
    return lines[0]?.status === 'Failed' && lines;
  });
  assert.equal(receiver.requests.length, 4, 'a client error is not retried');
  await instance.cli('delivery retry', failed!.id);
  const requests = await receiver.waitFor(5);
  assert.equal(read(requests[4]!).delivery_id, failed!.id);
  assert.deepEqual(requests[4]!.body.length, requests[3]!.body.length);
  await until('the log to say so', async () => {
    const [line] = await deliveries();
    return line!.status === 'Success' && line!.attempts === 2;
  });
});

test('deleting the form deletes its submissions, with a `submission.deleted` event for each', async () => {
  const submitted = receiver.requests.map((request) => read(request).submission.id);
  assert.equal((await call('DELETE', `/forms/${form.id}`)).status, 204);
  for (const path of [`/forms/${form.id}`, `/forms/${form.id}/submissions`, `/submissions/${submitted[0]}`]) {
    assert.equal((await call('GET', path)).status, 404, path);
  }
  assert.equal((await fetch(form.public_url)).status, 404);
  assert.equal((await fetch(fileUrl)).status, 404, 'its file');
  assert.deepEqual((await call('GET', '/submissions/search?q=piano')).body.data, []);

  const requests = await receiver.waitFor(7);
  const told = requests.slice(5).map(read);
  assert.deepEqual(
    told.map(({ event }) => event),
    ['submission.deleted', 'submission.deleted'],
  );
  assert.deepEqual(new Set(told.map(({ submission }) => submission.id)), new Set(submitted));
});
