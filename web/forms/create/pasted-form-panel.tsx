import { type ReactElement, useRef, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import type { InputOf } from '#app/operations.ts';
import { Button } from '../../design/button.tsx';
import { TextArea } from '../../design/field.tsx';
import { Message } from '../../design/message.tsx';
import { FileDrop } from './file-drop.tsx';
import { ForeignFormPanel } from './foreign-form-panel.tsx';
import type { TextPlace } from './json-places.ts';
import { type PastedProblem, readPastedForm } from './read-pasted-form.ts';
import { sayCount, wordFor } from '#ast/say-count.ts';

/** Reads a form from JSON that was pasted, dropped or chosen, tells where it is wrong, and knows those of other services. */
export function PastedFormPanel({
  workspaceId,
  text,
  onChange,
  onCreate,
  isPending,
}: {
  workspaceId: string;
  text: string;
  onChange: (text: string) => void;
  onCreate: (form: InputOf<'createForm'>['body']) => void;
  isPending: boolean;
}): ReactElement {
  const [problems, setProblems] = useState<readonly PastedProblem[]>([]);
  const [foreign, setForeign] = useState<Readonly<Record<string, unknown>>>();
  const area = useRef<HTMLTextAreaElement>(null);
  const change = (next: string): void => {
    onChange(next);
    setProblems([]);
  };
  const create = (): void => {
    const read = readPastedForm(text);
    if (!read.ok) setProblems(read.problems);
    else if ('document' in read) setForeign(read.document);
    else onCreate({ structure: read.structure, settings: read.settings });
  };
  const takeFile = async (file: File | undefined): Promise<void> => {
    if (file) change(await file.text());
  };
  if (foreign)
    return (
      <ForeignFormPanel workspaceId={workspaceId} document={foreign} onBack={() => setForeign(undefined)} />
    );
  return (
    <FileDrop onFile={(file) => void takeFile(file)}>
      <TextArea
        label="Form as JSON"
        description="A form from the API or “Export as JSON”, or an export from Typeform, Tally, Google Forms or SurveyJS. Paste it, drop a file here, or choose one."
        value={text}
        onChange={change}
        rows={14}
        inputRef={area}
        spellCheck="false"
      />
      {problems.length > 0 && <Problems problems={problems} onGo={(place) => select(area.current, place)} />}
      <div className="spread">
        <FileTrigger
          acceptedFileTypes={['application/json', '.json']}
          onSelect={(files) => void takeFile(files?.[0])}
        >
          <Button icon="file">Choose a file</Button>
        </FileTrigger>
        <Button variant="primary" onPress={create} isPending={isPending}>
          Create form
        </Button>
      </div>
    </FileDrop>
  );
}

function Problems({
  problems,
  onGo,
}: {
  problems: readonly PastedProblem[];
  onGo: (place: TextPlace) => void;
}): ReactElement {
  return (
    <Message
      tone="bad"
      title={`${wordFor(problems.length, 'There is', 'There are')} ${sayCount(problems.length, 'problem')}`}
    >
      <ul role="list" className="pasted-problems">
        {problems.map(({ message, where, place }, index) => (
          <li key={index}>
            <button type="button" className="pasted-problem" onClick={() => place && onGo(place)}>
              <span className="soft small numeric">
                {where}
                {place && `, line ${place.line}`}
              </span>
              <span>{message}</span>
            </button>
          </li>
        ))}
      </ul>
    </Message>
  );
}

/** Marks the place in the text and brings it into view. */
function select(area: HTMLTextAreaElement | null, { start, end, line }: TextPlace): void {
  if (!area) return;
  area.focus();
  area.setSelectionRange(start, end);
  const lineHeight = area.scrollHeight / Math.max(1, area.value.split('\n').length);
  area.scrollTop = Math.max(0, (line - 3) * lineHeight);
}
