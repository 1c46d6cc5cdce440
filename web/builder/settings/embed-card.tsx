import { type ReactElement, useState } from 'react';
import { TextArea } from '../../design/field.tsx';
import { Card } from '../../design/page.tsx';
import { fieldOf, type SettingsForm } from './setting-fields.tsx';

/** Whose pages may show the form inside them, and send it from a page of their own (docs/embedding.md). */
export function EmbedCard({ form }: { form: SettingsForm }): ReactElement {
  const listed = form.settings.embed_origins?.join('\n') ?? '';
  // The text as it is written: a line that is still empty is no origin, and must stay to be written on. Undo and other
  // editors change the list behind it; then what was written is over.
  const [written, setWritten] = useState(listed);
  const text = originsIn(written).join('\n') === listed ? written : listed;
  const change = (next: string): void => {
    setWritten(next);
    const origins = originsIn(next);
    form.set({ embed_origins: origins.length > 0 ? origins : undefined });
  };
  return (
    <Card title="Embedding">
      <TextArea
        {...fieldOf(form, 'embed_origins')}
        description="One origin a line, like https://example.com or https://*.example.com: these alone may embed the form or post to it from their pages, and spam protection asks nothing else of what they send. Empty: any site may embed and post."
        placeholder="https://example.com"
        value={text}
        onChange={change}
        isReadOnly={form.isReadOnly}
      />
    </Card>
  );
}

const originsIn = (text: string): string[] => text.split(/\s+/).filter((line) => line !== '');
