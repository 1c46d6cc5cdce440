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
        label="Save progress"
        description="Answers are kept while they are given, and a link leads back to them, also on another device. They count as incomplete until they are sent."
      />
      {settings.save_progress && (
        <CountField
          form={form}
          name="resume_days"
          label="Days to go on"
          description="The link works so long after the last answer. Empty: 30."
        />
      )}
      <FlagField
        form={form}
        name="editing"
        label="Editing"
        description="Whoever sent answers gets a link to change them. Webhooks hear of it as submission.updated."
      />
      {settings.editing && (
        <CountField
          form={form}
          name="edit_days"
          label="Days to edit"
          description="The link works so long after the submission. Empty: 365."
        />
      )}
    </Card>
  );
}
