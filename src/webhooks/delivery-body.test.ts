import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Snapshot } from './event.ts';
import { type DeliveryBodySource, formatDeliveryBody } from './signature.ts';

const snapshot: Snapshot = {
  form: { id: 'form', name: 'Application', workspace_id: 'workspace' },
  submission: {
    id: 'submission',
    submitted_at: '2026-01-02T03:04:05.000Z',
    status: 'completed',
    reference_data: { utm: 'mail' },
    responses: { name: 'Ada', age: 36, agreed: true },
    file_uploads: { photo: [{ id: 'a', filename: 'a.png', size: 3, content_type: 'image/png' }] },
  },
};
const source: DeliveryBodySource = {
  kind: 'submission.created',
  occurredAt: new Date('2026-01-02T03:04:05.678Z'),
  deliveryId: '0198c5f0-0000-7000-8000-000000000001',
  snapshot: JSON.stringify(snapshot),
  signLink: ({ id }) => `https://files.example/${id}`,
};

test('the body matches the specification and has a signed link for each file', () => {
  assert.deepEqual(JSON.parse(formatDeliveryBody(source)), {
    event: 'submission.created',
    timestamp: '2026-01-02T03:04:05.678Z',
    delivery_id: source.deliveryId,
    form: { id: 'form', name: 'Application', workspace_id: 'workspace' },
    submission: {
      id: 'submission',
      submitted_at: '2026-01-02T03:04:05.000Z',
      status: 'completed',
      reference_data: { utm: 'mail' },
      responses: { name: 'Ada', age: 36, agreed: true },
      file_uploads: {
        photo: [
          { id: 'a', filename: 'a.png', size: 3, content_type: 'image/png', url: 'https://files.example/a' },
        ],
      },
    },
  });
});

test('the same delivery always has the same body, except for the links', () => {
  const readAgain = { ...source, snapshot: JSON.stringify(JSON.parse(source.snapshot)) };
  assert.equal(formatDeliveryBody(readAgain), formatDeliveryBody(source));
  const later = formatDeliveryBody({ ...source, signLink: ({ id }) => `https://files.example/${id}?later` });
  assert.notEqual(later, formatDeliveryBody(source));
  assert.equal(later.replace('?later', ''), formatDeliveryBody(source));
});

test('a visitor’s text cannot remove the links to files, and a body without files keeps its snapshot unchanged', () => {
  const hostile = ',"file_uploads":{}}}';
  for (const file_uploads of [{}, snapshot.submission.file_uploads]) {
    const submission = {
      ...snapshot.submission,
      reference_data: { [hostile]: hostile },
      responses: { [hostile]: hostile, file_uploads: hostile },
      file_uploads,
    };
    const body = formatDeliveryBody({ ...source, snapshot: JSON.stringify({ ...snapshot, submission }) });
    const read = JSON.parse(body) as Snapshot;
    assert.deepEqual(read.submission.responses, submission.responses);
    assert.deepEqual(read.submission.reference_data, submission.reference_data);
    assert.deepEqual(Object.keys(read.submission.file_uploads), Object.keys(file_uploads));
    assert.equal(body.includes('https://files.example/a'), 'photo' in file_uploads);
  }
});

test('a damaged snapshot makes no body', () => {
  for (const damaged of ['null', '{}', '[]', '{"form":{}}', '{"form":{},"submission":7}'])
    assert.throws(() => formatDeliveryBody({ ...source, snapshot: damaged }));
});
