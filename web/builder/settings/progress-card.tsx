import type { ReactElement } from 'react';
import { Card } from '../../design/page.tsx';
import { CountField, FlagField, type SettingsForm } from './setting-fields.tsx';

/** Going on later, and changing what was sent. */
export function ProgressCard({ form }: { form: SettingsForm }): ReactElement {
  const { settings } = form;
  return (
    <Card title="Going on and changing">
      <FlagField
        form={form}
        name="save_progress"
        description="Answers are kept while they are given, and a link leads back to them, also on another device. They count as incomplete until they are sent."
      />
      {(settings.save_progress || form.error('resume_days')) && (
        <CountField
          form={form}
          name="resume_days"
          description="The link works so long after the last answer. Empty: 30."
        />
      )}
      <FlagField
        form={form}
        name="editing"
        description="Whoever sent answers gets a link to change them. Webhooks for “Updated” hear of each change."
      />
      {(settings.editing || form.error('edit_days')) && (
        <CountField
          form={form}
          name="edit_days"
          description="The link works so long after the submission. Empty: 365."
        />
      )}
    </Card>
  );
}
