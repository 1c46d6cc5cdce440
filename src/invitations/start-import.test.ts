import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createForm } from '#forms/forms.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { defaultMessage } from './message.ts';
import { previewInvitationEmail } from './preview-email.ts';
import { createImportPreview } from './start-import.ts';

const { database } = await testDatabase();
const { id: workspaceId } = await createWorkspace(database, { name: 'Test', plan: 'free' });
const { id: formId } = await createForm(database, workspaceId, {
  structure: structure(element('text', 'city')),
});
const form = { workspaceId, formId };

test('a placeholder uses its fallback for a person with a blank cell, also in the email preview', async () => {
  const text = 'email,company\nada@example.org,\ngrace@example.org,Navy\n';
  const { drafts } = await createImportPreview({ database }, form, { kind: 'csv', text });
  assert.deepEqual(
    drafts.map(({ draft }) => draft.reference),
    [{ company: '' }, { company: 'Navy' }],
  );
  const message = { ...defaultMessage, message: 'How is {{company|everything}}?' };
  const invitation = { ...message, expiresAt: null, isMailed: true, createdBy: null };
  const context = { database, config: { publicUrl: 'https://forms.example.org', smtp: undefined } };
  const mails = await Promise.all(
    drafts.map(({ draft }) => previewInvitationEmail(context, form, invitation, draft)),
  );
  assert.deepEqual(
    mails.map(({ letter }) => letter.blocks[0]),
    ['How is everything?', 'How is Navy?'].map((words) => ({ kind: 'text', text: words })),
  );
});
