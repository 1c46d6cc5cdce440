import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryBody, type BodySource } from './body.ts';

const source: BodySource = {
  kind: 'submission.created',
  occurredAt: new Date('2026-01-02T03:04:05.678Z'),
  deliveryId: '0198c5f0-0000-7000-8000-000000000001',
  snapshot: {
    form: { id: 'form', name: 'Application', workspace_id: 'workspace' },
    submission: {
      id: 'submission',
      submitted_at: '2026-01-02T03:04:05.000Z',
      status: 'completed',
      reference_data: { utm: 'mail' },
      responses: { name: 'Ada', age: 36, agreed: true },
      file_uploads: { photo: [{ id: 'a', filename: 'a.png', size: 3, content_type: 'image/png' }] },
    },
  },
  signLink: (fileId) => `https://files.example/${fileId}`,
};

test('the body is the one of the specification, with a signed address for each file', () => {
  assert.deepEqual(JSON.parse(deliveryBody(source)), {
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

test('the same delivery has the same text, but for the links', () => {
  const readAgain = {
    ...source,
    snapshot: JSON.parse(JSON.stringify(source.snapshot)) as BodySource['snapshot'],
  };
  assert.equal(deliveryBody(readAgain), deliveryBody(source));
  const later = deliveryBody({ ...source, signLink: (fileId) => `https://files.example/${fileId}?later` });
  assert.notEqual(later, deliveryBody(source));
  assert.equal(later.replace('?later', ''), deliveryBody(source));
});
