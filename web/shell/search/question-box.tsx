import './question.css';
import { type ReactElement, useId, useRef, useState } from 'react';
import { readQuestion } from '#ast/search.ts';
import { IconButton } from '../../design/button.tsx';
import { Combobox } from '../../design/combobox.tsx';
import { ColouredQuestion } from './coloured-question.tsx';
import { QuestionHelp } from './question-help.tsx';
import { type SearchPlace, useSuggestions } from './use-suggestions.ts';

type Props = {
  label: string;
  placeholder: string;
  place: SearchPlace;
  value: string;
  onChange: (text: string) => void;
};

/** The box in which a search is written: in colours, with suggestions, with what is wrong in it, and with help. */
export function QuestionBox({ label, placeholder, place, value, onChange }: Props): ReactElement {
  const noteId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(0);
  const { group, complete } = useSuggestions(place, { text: value, caret });
  const [problem] = readQuestion(value).problems;
  return (
    <div className="question">
      <Combobox
        label={label}
        placeholder={placeholder}
        value={value}
        inputRef={input}
        onChange={(text, at) => {
          setCaret(at);
          onChange(text);
        }}
        groups={[group]}
        onChoose={(id) => {
          const completed = complete(id);
          if (!completed) return;
          setCaret(completed.caret);
          onChange(completed.text);
          // Once it is drawn.
          requestAnimationFrame(() => input.current?.setSelectionRange(completed.caret, completed.caret));
        }}
        behind={<ColouredQuestion text={value} />}
        end={
          <>
            {value !== '' && (
              <IconButton
                icon="close"
                label="Clear the search"
                size="small"
                onPress={() => {
                  onChange('');
                  input.current?.focus();
                }}
              />
            )}
            <QuestionHelp />
          </>
        }
        problemId={problem && noteId}
      />
      <p id={noteId} className="question-note" role="status">
        {problem?.message}
      </p>
    </div>
  );
}
