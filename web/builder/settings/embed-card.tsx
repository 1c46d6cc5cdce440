import { type ReactElement, useState } from 'react';
import { TextArea } from '../../design/field.tsx';
import { Card } from '../../design/page.tsx';
import type { SettingsForm } from './setting-fields.tsx';

/** Whose pages may show the form inside them (docs/embedding.md). */
export function EmbedCard({ form }: { form: SettingsForm }): ReactElement {
  // The text as it is written: a line that is still empty is no origin, and must stay to be written on.
  const [text, setText] = useState(form.settings.embed_origins?.join('\n') ?? '');
  const change = (next: string): void => {
    setText(next);
    const origins = next.split(/\s+/).filter((line) => line !== '');
    form.set({ embed_origins: origins.length > 0 ? origins : undefined });
  };
  return (
    <Card title="Embedding">
      <TextArea
        label="Sites that may show it"
        description="One origin a line, like https://example.com or https://*.example.com. Empty: any site."
        placeholder="https://example.com"
        value={text}
        onChange={change}
        error={form.error('embed_origins')}
        isReadOnly={form.isReadOnly}
      />
    </Card>
  );
}
