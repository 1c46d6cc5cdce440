import type { ReactElement } from 'react';
import type { AccessMode, Settings } from '#ast/settings.ts';
import { RadioGroup } from '../../design/checkbox.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { Card } from '../../design/page.tsx';
import { CountField, type SettingsForm } from './setting-fields.tsx';
import { fromLocal, toLocal } from './settings-values.ts';

const choices: readonly { id: AccessMode; label: string; description: string }[] = [
  { id: 'public', label: 'Everybody with the link', description: 'The form is open while it is published.' },
  { id: 'invited', label: 'Invited people', description: 'Each needs an invitation of their own.' },
  { id: 'password', label: 'Whoever knows the password', description: 'The page asks for it first.' },
  { id: 'closed', label: 'Nobody for now', description: 'The page says that the form is closed.' },
];

/** Who may fill the form in, from when until when, and how often. */
export function AccessCard({ form, saved }: { form: SettingsForm; saved: Settings }): ReactElement {
  const { settings, set, error, isReadOnly } = form;
  const access = settings.access ?? 'public';
  return (
    <Card title="Who and when">
      <RadioGroup
        label="Who may fill it in"
        choices={choices}
        value={access}
        onChange={(next) => set({ access: next, ...(next !== 'password' && { password: undefined }) })}
        error={error('access')}
        isDisabled={isReadOnly}
      />
      {access === 'password' && (
        <TextField
          type="password"
          label={saved.access === 'password' ? 'New password' : 'Password'}
          description={
            saved.access === 'password'
              ? 'The password is never shown again. Empty: the one that was set stays.'
              : '4 to 128 characters. It is kept so that nobody can read it, us included.'
          }
          autoComplete="new-password"
          value={settings.password ?? ''}
          onChange={(password) => set({ password })}
          error={error('password')}
          isReadOnly={isReadOnly}
        />
      )}
      <div className="settings-pair">
        <TextField
          type="datetime-local"
          label="Opens"
          description="In your time zone."
          value={toLocal(settings.opens_at)}
          onChange={(text) => set({ opens_at: fromLocal(text) })}
          error={error('opens_at')}
          isReadOnly={isReadOnly}
        />
        <TextField
          type="datetime-local"
          label="Closes"
          description="In your time zone."
          value={toLocal(settings.closes_at)}
          onChange={(text) => set({ closes_at: fromLocal(text) })}
          error={error('closes_at')}
          isReadOnly={isReadOnly}
        />
      </div>
      <CountField
        form={form}
        name="max_submissions"
        label="Most submissions"
        description="Once there are so many, the form closes. Empty: no limit."
      />
      <TextArea
        label="Message when it is closed"
        description="What visitors read before it opens, after it closed, or when it is full."
        value={settings.closed_message ?? ''}
        onChange={(text) => set({ closed_message: text })}
        error={error('closed_message')}
        isReadOnly={isReadOnly}
      />
    </Card>
  );
}
