import type { ReactElement } from 'react';
import { TextArea, TextField } from '../../design/field.tsx';
import { Card } from '../../design/page.tsx';
import type { EditNode } from '../model/edit-node.ts';
import { InsertAnswer } from '../panel/insert-answer.tsx';
import { ConfirmationsField } from './by-condition.tsx';
import { fieldOf, type SettingsForm } from './setting-fields.tsx';

/** What happens once a submission was sent. */
export function AfterCard({ form, root }: { form: SettingsForm; root: EditNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  return (
    <Card title="After a submission">
      <InsertAnswer
        isOfPart={false}
        onInsert={(placeholder) =>
          set({ confirmation_message: `${settings.confirmation_message ?? ''}${placeholder}` })
        }
      >
        <TextArea
          {...fieldOf(form, 'confirmation_message')}
          description="What visitors read when they are done."
          value={settings.confirmation_message ?? ''}
          onChange={(text) => set({ confirmation_message: text })}
          isReadOnly={isReadOnly}
        />
      </InsertAnswer>
      <TextField
        type="url"
        {...fieldOf(form, 'redirect_url')}
        description="An https address that visitors are led to instead. The number of the receipt is added as “receipt”."
        placeholder="https://"
        value={settings.redirect_url ?? ''}
        onChange={(text) => set({ redirect_url: text })}
        isReadOnly={isReadOnly}
      />
      <ConfirmationsField form={form} root={root} />
    </Card>
  );
}
