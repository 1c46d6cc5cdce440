import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Receiver } from '#webhooks/shapes.ts';
import { CopyField } from '../../design/copy-button.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { Tabs } from '../../design/tabs.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { receiversQuery } from './workbench-query.ts';

/** A receiver for this webhook that verifies and deduplicates, in the language of one's choice. */
export function ReceiverCode({ form, webhook }: { form: LocatedForm; webhook: string }): ReactElement {
  const [language, setLanguage] = useState<Receiver['id']>('node');
  const { data, error, refetch } = useQuery(receiversQuery(form, webhook));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading lines={4} />;
  return (
    <div className="secret-fields">
      <Tabs
        label="Language"
        value={language}
        onChange={setLanguage}
        tabs={data.data.map(({ id, label, file, code }) => ({
          id,
          label,
          content: (
            <CopyField label={`${file}: verifies each delivery, handles it once`} text={code} isMultiline />
          ),
        }))}
      />
    </div>
  );
}
