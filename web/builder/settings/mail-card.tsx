import type { ReactElement } from 'react';
import { useQuery } from '@tanstack/react-query';
import { receiptCandidates } from '#ast/recipients.ts';
import { TextField } from '../../design/field.tsx';
import { Message } from '../../design/message.tsx';
import { Card } from '../../design/page.tsx';
import { Select } from '../../design/select.tsx';
import { membersQuery } from '../../settings/workspace.ts';
import { useForm } from '../../shell/form-place.ts';
import type { EditNode } from '../model/edit-node.ts';
import { NotificationsField } from './by-condition.tsx';
import { fieldOf, FlagField, type SettingsForm } from './setting-fields.tsx';
import { digestChoices } from './setting-words.ts';
import { useElementChoices } from './use-element-choices.ts';

/** Who hears of a submission by mail. */
export function MailCard({ form, root }: { form: SettingsForm; root: EditNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  const receipts = useElementChoices(root, settings.receipt_email_element, receiptCandidates, 'No receipt');
  return (
    <Card title="Mail">
      <TextField
        {...fieldOf(form, 'notification_email')}
        description="Who gets completed submissions by mail. Put commas between several addresses."
        inputMode="email"
        autoComplete="off"
        value={settings.notification_email ?? ''}
        onChange={(text) => set({ notification_email: text })}
        isReadOnly={isReadOnly}
      />
      <Strangers addresses={settings.notification_email ?? ''} />
      <Select
        {...fieldOf(form, 'notification_digest')}
        value={settings.notification_digest ?? 'each'}
        choices={digestChoices}
        onChange={(mode) => set({ notification_digest: mode === 'each' ? undefined : mode })}
        isDisabled={isReadOnly}
      />
      <Select
        {...fieldOf(form, 'receipt_email_element')}
        description="The answer that gets a mail, with the link to change the answers where that is allowed."
        value={settings.receipt_email_element ?? ''}
        choices={receipts}
        onChange={(id) => set({ receipt_email_element: id })}
        isDisabled={isReadOnly}
      />
      <NotificationsField form={form} root={root} />
      {settings.receipt_email_element !== undefined && <FlagField form={form} name="receipt_answers" />}
      {settings.receipt_email_element !== undefined && settings.receipt_answers === true && (
        <Message tone="warn">
          Nobody checks whose address a visitor enters. Whoever fills in the form can have any text of theirs
          mailed to anybody, in your name.
        </Message>
      )}
    </Card>
  );
}

/** Says which addresses are of nobody in the workspace: every submission is mailed there. Nothing is refused. */
function Strangers({ addresses }: { addresses: string }): ReactElement | null {
  const { data: members } = useQuery(membersQuery(useForm().workspace_id));
  const known = new Set(members?.map(({ email }) => email.toLowerCase()));
  const strangers = addresses.split(',').flatMap((text) => {
    const address = /[^\s<>]+@[^\s<>]+\.[^\s<>]+/.exec(text)?.[0];
    return address === undefined || known.has(address.toLowerCase()) ? [] : [address];
  });
  if (!members || strangers.length === 0) return null;
  return (
    <Message tone="warn">
      {strangers.length === 1
        ? `${strangers[0]} is no member of this workspace, and gets`
        : `${strangers.join(', ')} are no members of this workspace, and get`}{' '}
      every submission by mail.
    </Message>
  );
}
