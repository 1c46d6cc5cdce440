import type { ReactElement } from 'react';
import { Card } from '../../design/page.tsx';
import { CountField, FlagField, type SettingsForm } from './setting-fields.tsx';

/** What keeps machines out. A field that only machines fill in is on every page in any case. */
export function SpamCard({ form }: { form: SettingsForm }): ReactElement {
  return (
    <Card
      title="Spam protection"
      lead="No third party is asked. What looks like spam goes to the spam box, from where you can release it."
    >
      <div className="settings-pair">
        <CountField
          form={form}
          name="min_seconds"
          description="Who fills in the form's page quicker is taken for a machine. Posts from your own page or program have no such time. Empty: nobody is."
        />
        <CountField
          form={form}
          name="limit_per_address"
          description="More submissions are refused for a while. Empty: no limit."
        />
        <CountField
          form={form}
          name="limit_per_form"
          description="More submissions are refused for a while. Empty: no limit."
        />
      </div>
      <FlagField
        form={form}
        name="proof_of_work"
        description="The visitor's browser computes for about a second. Without script, and from a page or program of your own, submissions go to the spam box, unless your site is named under Embedding."
      />
    </Card>
  );
}
