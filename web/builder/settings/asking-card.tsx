import type { ReactElement } from 'react';
import { RadioGroup } from '../../design/checkbox.tsx';
import { Card } from '../../design/page.tsx';
import { FlagField, fieldOf, type SettingsForm } from './setting-fields.tsx';
import { layoutChoices } from './setting-words.ts';

/** How the form asks: by steps or question by question, and whether it shows all answers before they are sent. */
export function AskingCard({ form }: { form: SettingsForm }): ReactElement {
  return (
    <Card title="Asking">
      <RadioGroup
        {...fieldOf(form, 'layout')}
        choices={layoutChoices}
        value={form.settings.layout ?? 'page'}
        onChange={(layout) => form.set({ layout: layout === 'page' ? undefined : layout })}
        isDisabled={form.isReadOnly}
      />
      <FlagField
        form={form}
        name="review_step"
        description="A last step lists every question with its answer, and leads back to each. The answers are sent from there."
      />
    </Card>
  );
}
