import type { ReactElement, ReactNode } from 'react';
import { RadioGroup } from '../../design/checkbox.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { Card } from '../../design/page.tsx';
import { CountField, fieldOf, type SettingsForm } from './setting-fields.tsx';
import { accessChoices } from './setting-words.ts';
import { fromLocal, toLocal } from './settings-values.ts';

/** Who may fill the form in, from when until when, and how often. `password` sets the one that may be asked for. */
export function AccessCard({ form, password }: { form: SettingsForm; password: ReactNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  const access = settings.access ?? 'public';
  return (
    <Card title="Who and when">
      <RadioGroup
        {...fieldOf(form, 'access')}
        choices={accessChoices}
        value={access}
        onChange={(next) => set({ access: next })}
        isDisabled={isReadOnly}
      />
      {access === 'password' && password}
      <div className="settings-pair">
        <TextField
          type="datetime-local"
          {...fieldOf(form, 'opens_at')}
          description="In your time zone."
          value={toLocal(settings.opens_at)}
          onChange={(text) => set({ opens_at: fromLocal(text) })}
          isReadOnly={isReadOnly}
        />
        <TextField
          type="datetime-local"
          {...fieldOf(form, 'closes_at')}
          description="In your time zone."
          value={toLocal(settings.closes_at)}
          onChange={(text) => set({ closes_at: fromLocal(text) })}
          isReadOnly={isReadOnly}
        />
      </div>
      <CountField
        form={form}
        name="max_submissions"
        description="Once there are so many, the form closes. Empty: no limit."
      />
      <TextArea
        {...fieldOf(form, 'closed_message')}
        description="What visitors read before it opens, after it closed, or when it is full."
        value={settings.closed_message ?? ''}
        onChange={(text) => set({ closed_message: text })}
        isReadOnly={isReadOnly}
      />
    </Card>
  );
}
