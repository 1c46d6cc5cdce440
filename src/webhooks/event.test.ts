import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answers } from '#ast/answers/check-answers.ts';
import { describeFields } from '#ast/form/describe.ts';
import type { Form } from '#ast/form/tree.ts';
import { snapshotOf } from './event.ts';

const element = (type: string, id: string, attrs = {}, children: object[] = []): object => ({
  type,
  attrs: { id, label: id, ...attrs },
  children,
});
const structure = {
  type: 'form',
  attrs: { name: 'Application' },
  children: [
    {
      type: 'step',
      attrs: {},
      children: [
        element('text', 'name'),
        element('file_upload', 'photo'),
        element('text', 'toString'),
        element('composite', 'jobs', { repeatable: true }, [
          element('text', 'employer'),
          element('file_upload', 'reference_letter'),
        ]),
      ],
    },
  ],
} as Form;

const file = (id: string) => ({ id, filename: `${id}.pdf`, size: 3, content_type: 'application/pdf' });
const snapshot = (answers: Answers) =>
  snapshotOf({
    form: { id: 'form', name: 'Application', workspaceId: 'workspace' },
    submission: {
      id: 'submission',
      submittedAt: new Date('2026-01-02T03:04:05.678Z'),
      status: 'completed',
      reference: { utm: 'mail' },
      answers,
    },
    fields: describeFields(structure),
  });

test('a snapshot contains the form and the submission, named as in the webhook representation', () => {
  assert.deepEqual(snapshot({ name: 'Ada' }), {
    form: { id: 'form', name: 'Application', workspace_id: 'workspace' },
    submission: {
      id: 'submission',
      submitted_at: '2026-01-02T03:04:05.678Z',
      status: 'completed',
      reference_data: { utm: 'mail' },
      responses: { name: 'Ada' },
      file_uploads: {},
    },
  });
});

test('files are in `file_uploads` under their field, and not in `responses`', () => {
  const { responses, file_uploads } = snapshot({ name: 'Ada', photo: [file('a'), file('b')] }).submission;
  assert.deepEqual(responses, { name: 'Ada' });
  assert.deepEqual(file_uploads, { photo: [file('a'), file('b')] });
});

test('files in rows of a repeatable group are in `file_uploads` with their row number', () => {
  const { responses, file_uploads } = snapshot({
    jobs: [
      { employer: 'First', reference_letter: [file('a'), file('b')] },
      { employer: 'Second' },
      { reference_letter: [file('c')] },
    ],
  }).submission;
  assert.deepEqual(responses, { jobs: [{ employer: 'First' }, { employer: 'Second' }, {}] });
  assert.deepEqual(file_uploads, {
    reference_letter: [
      { ...file('a'), row: 0 },
      { ...file('b'), row: 0 },
      { ...file('c'), row: 2 },
    ],
  });
});

test('an element ID may equal the name of a built-in method', () => {
  assert.deepEqual(snapshot({ toString: 'a text' }).submission.responses, {
    toString: 'a text',
  });
});

test('an incomplete submission has no submission time', () => {
  const source = { form: { id: 'f', name: 'F', workspaceId: 'w' }, fields: {} };
  const submission = { id: 's', submittedAt: null, status: 'incomplete', reference: {}, answers: {} };
  assert.equal(snapshotOf({ ...source, submission }).submission.submitted_at, null);
});
