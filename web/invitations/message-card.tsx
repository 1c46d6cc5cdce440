import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { ApiProblem } from '../api/client.ts';
import { TextArea, TextField } from '../design/field.tsx';
import { Card } from '../design/page.tsx';
import { type Draft, messageOf } from './draft.ts';
import { type Addressee, type FormPlace, letterQuery, type ImportPreview } from './invitations-query.ts';
import { LetterView } from './letter-view.tsx';
import { useSettled } from '../design/use-settled.ts';

type Props = {
  form: FormPlace;
  draft: Draft;
  onChange: (draft: Draft) => void;
  /** What `{{…}}` may stand for. */
  placeholders: Readonly<Record<string, string>>;
  /** The first who is invited. */
  person: ImportPreview['people'][number] | undefined;
  problem: ApiProblem | undefined;
};

const somebody: Addressee = { email: 'ada@example.org', name: 'Ada Lovelace', reference: {} };

/** What the mail says, and how it looks to the first person. */
export function MessageCard({ form, draft, onChange, placeholders, person, problem }: Props): ReactElement {
  const addressee: Addressee = person
    ? { email: person.email, name: person.name, reference: person.reference }
    : somebody;
  const settled = useSettled(draft);
  const { data, error } = useQuery(letterQuery(form, messageOf(settled), addressee));
  const wrong = problem ?? (error instanceof ApiProblem ? error : undefined);
  return (
    <Card title="Message" lead="Kept for the next time you invite.">
      <TextField
        label="Subject"
        value={draft.subject}
        error={wrong?.of('subject')}
        onChange={(subject) => onChange({ ...draft, subject })}
      />
      <TextArea
        label="Text"
        description={`A button with the personal link follows it. ${sayPlaceholders(placeholders, addressee)}`}
        rows={6}
        value={draft.message}
        error={wrong?.of('message')}
        onChange={(message) => onChange({ ...draft, message })}
      />
      {data && !error && <LetterView preview={data} to={addressee.name || addressee.email} />}
    </Card>
  );
}

function sayPlaceholders(placeholders: Props['placeholders'], { reference }: Addressee): string {
  const names = [...Object.keys(placeholders), ...Object.keys(reference)].map((name) => `{{${name}}}`);
  return `You can write ${names.join(', ')}; {{name|friend}} says “friend” to whoever has no name.`;
}
