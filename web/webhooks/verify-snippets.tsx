import { type ReactElement, useState } from 'react';
import { CopyField } from '../design/copy-button.tsx';
import { Tabs } from '../design/tabs.tsx';
import { type Snippet, snippets } from './snippets.ts';

/** How a receiver verifies the signature, in the language of one's choice. */
export function VerifySnippets(): ReactElement {
  const [language, setLanguage] = useState<Snippet['id']>('node');
  return (
    <div className="secret-fields">
      <Tabs
        label="Language"
        value={language}
        onChange={setLanguage}
        tabs={snippets.map(({ id, label, code }) => ({
          id,
          label,
          content: <CopyField label={`Verify X-Service-Signature in ${label}`} text={code} isMultiline />,
        }))}
      />
    </div>
  );
}
