import type { ReactElement } from 'react';
import { receiptCandidates, type Settings } from '#ast/settings.ts';
import { TextField } from '../../design/field.tsx';
import { Card } from '../../design/page.tsx';
import { type Choice, Select } from '../../design/select.tsx';
import type { BuilderForm } from '../saving/builder-api.ts';
import type { SettingsForm } from './setting-fields.tsx';
import { useLiveChoices } from './use-live-choices.ts';

const digestChoices: readonly Choice<NonNullable<Settings['notification_digest']>>[] = [
  { id: 'each', label: 'For each submission' },
  { id: 'hourly', label: 'Once an hour', description: 'One mail for all of them.' },
  { id: 'daily', label: 'Once a day', description: 'At 08:00 in the time zone of the form.' },
];

/** Who hears of a submission by mail. */
export function MailCard({ form, opened }: { form: SettingsForm; opened: BuilderForm }): ReactElement {
  const { settings, set, error, isReadOnly } = form;
  const receipts = useLiveChoices(opened, 'receipt_email_element', receiptCandidates, 'No receipt');
  return (
    <Card title="Mail">
      <TextField
        label="Notify by email"
        description="Who gets completed submissions by mail. Put commas between several addresses."
        inputMode="email"
        autoComplete="off"
        value={settings.notification_email ?? ''}
        onChange={(text) => set({ notification_email: text })}
        error={error('notification_email')}
        isReadOnly={isReadOnly}
      />
      <Select
        label="Mail them"
        value={settings.notification_digest ?? 'each'}
        choices={digestChoices}
        onChange={(mode) => set({ notification_digest: mode === 'each' ? undefined : mode })}
        error={error('notification_digest')}
        isDisabled={isReadOnly}
      />
      <Select
        label="Receipt for visitors"
        description="The answer that gets a mail with all answers, and with the link to change them where that is allowed."
        value={settings.receipt_email_element ?? ''}
        choices={receipts}
        onChange={(id) => set({ receipt_email_element: id })}
        error={error('receipt_email_element')}
        isDisabled={isReadOnly}
      />
    </Card>
  );
}
