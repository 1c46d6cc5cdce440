import './question.css';
import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, type ReactElement, useEffect, useId, useRef, useState } from 'react';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Popover } from 'react-aria-components/Popover';
import type { ReplyOf } from '#app/operations/operations.ts';
import {
  findUnfinishedPart,
  parseSearch,
  type SearchPart,
  searchOperators,
  searchSyntax,
} from '#ast/search.ts';
import { callOperation } from '../../api/operations.ts';
import { IconButton } from '../../design/button.tsx';
import { Combobox, type ComboboxGroup } from '../../design/combobox.tsx';
import type { IconName } from '../../design/icon.tsx';

/** Highlights a search as the server parses it: operators, phrases, exclusions and errors. */
export function HighlightedSearch({ text }: { text: string }): ReactElement {
  const { parts, problems } = parseSearch(text);
  const drawn: (string | ReactElement)[] = [];
  let at = 0;
  for (const part of parts) {
    const { begin, end } = part;
    const isWrong = problems.some((problem) => problem.begin === begin);
    drawn.push(
      text.slice(at, begin),
      <span key={begin} className={isWrong ? 'question-problem' : classOf(part)}>
        {text.slice(begin, end)}
      </span>,
    );
    at = end;
  }
  return (
    <span>
      {drawn}
      {text.slice(at)}
    </span>
  );
}

const classes: Readonly<Record<SearchPart['kind'], string | undefined>> = {
  word: undefined,
  phrase: 'question-phrase',
  beginning: 'question-operator',
  operator: 'question-operator',
  field: 'question-operator',
};
const classOf = ({ kind, isNot }: SearchPart): string | undefined => (isNot ? 'question-not' : classes[kind]);

const rows = [...Object.values(searchSyntax), ...Object.values(searchOperators)];

/** A button that explains the search syntax. */
export function SearchHelp(): ReactElement {
  return (
    <DialogTrigger>
      <IconButton icon="info" label="How to search" size="small" />
      <Popover className="popover" placement="bottom end" offset={6}>
        <Dialog className="question-help">
          <Heading slot="title" level={2}>
            How to search
          </Heading>
          <p>Finds submissions that contain all words, also in other forms. You can also use:</p>
          {/* Focusable, so that it can be scrolled with the keyboard. */}
          <section className="question-ways" aria-label="Search syntax" tabIndex={0}>
            <dl>
              {rows.map(({ example, takes }) => (
                <div key={example} style={{ display: 'contents' }}>
                  <dt>
                    <code>{example}</code>
                  </dt>
                  <dd>{takes}</dd>
                </div>
              ))}
            </dl>
          </section>
          <p>Put a minus before any of these to exclude matches.</p>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

type Suggestion = ReplyOf<'suggestSearch'>['data'][number];
/** The scope of a search: a workspace, or one form. */
type SearchScope = { workspaceId: string; formId?: string };
type TypedSearch = { text: string; caret: number };

/** The pause in typing before the server is queried, in milliseconds. */
const typingMs = 120;

const icons: Readonly<Record<Suggestion['kind'], IconName>> = {
  operator: 'filter',
  element: 'form',
  word: 'search',
  form: 'form',
  status: 'filter',
  tag: 'filter',
};

/** Returns suggestions for the text at the caret, and a function that inserts one. */
export function useSuggestions(
  { workspaceId, formId }: SearchScope,
  writing: TypedSearch,
): { group: ComboboxGroup; complete: (id: string) => TypedSearch | undefined } {
  const rested = useDebouncedSearch(writing);
  const isActive = findUnfinishedPart(rested.text, rested.caret) !== undefined && rested.text.length <= 1_024;
  const query = { q: rested.text, at: rested.caret, ...(formId !== undefined && { form_id: formId }) };
  const { data: found } = useQuery({
    queryKey: ['suggestions', workspaceId, query],
    queryFn: ({ signal }) => callOperation(workspaceId, 'suggestSearch', { query }, { signal }),
    enabled: isActive,
    staleTime: 60_000,
  });
  // Suggestions for an earlier text refer to another position.
  const isFresh = isActive && rested.text === writing.text && rested.caret === writing.caret;
  const data = (isFresh && found?.data) || [];
  const group: ComboboxGroup = {
    id: 'suggestions',
    options: data.map(({ kind, text, label }) => ({
      id: `${kind} ${text}`,
      label: text,
      icon: icons[kind],
      ...(label !== text && { description: label }),
    })),
  };
  return {
    group,
    complete(id) {
      const chosen = data.find(({ kind, text }) => `${kind} ${text}` === id);
      if (!chosen || !found) return undefined;
      const written = `${writing.text.slice(0, found.begin)}${chosen.text}${chosen.text.endsWith(':') ? '' : ' '}`;
      return { text: written + writing.text.slice(found.end).trimStart(), caret: written.length };
    },
  };
}

/** Returns the text once typing pauses. */
function useDebouncedSearch(writing: TypedSearch): TypedSearch {
  const { text, caret } = writing;
  const [rested, setRested] = useState(writing);
  useEffect(() => {
    const timer = setTimeout(() => setRested({ text, caret }), typingMs);
    return () => clearTimeout(timer);
  }, [text, caret]);
  return rested;
}

type BoxProps = {
  label: string;
  placeholder: string;
  place: SearchScope;
  value: string;
  onChange: (text: string) => void;
};

/** The search box, with highlighting, suggestions, error messages and help. */
function SearchBox({ label, placeholder, place, value, onChange }: BoxProps): ReactElement {
  const noteId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(0);
  const { group, complete } = useSuggestions(place, { text: value, caret });
  const [problem] = parseSearch(value).problems;
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
          // Waits until the text is rendered.
          requestAnimationFrame(() => input.current?.setSelectionRange(completed.caret, completed.caret));
        }}
        behind={<HighlightedSearch text={value} />}
        end={
          <>
            {value !== '' && (
              <IconButton
                icon="close"
                label="Clear search"
                size="small"
                onPress={() => {
                  onChange('');
                  input.current?.focus();
                }}
              />
            )}
            <SearchHelp />
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

/** The pause in typing before the search starts, in milliseconds. */
const askMs = 250;

type Props = Omit<ComponentProps<typeof SearchBox>, 'value' | 'onChange'> & {
  q: string | undefined;
  onChange: (q: string | undefined) => void;
};

/**
 * The search of a screen. It runs when typing pauses. An invalid search shows its error and changes nothing.
 */
export function ScreenSearch({ q, onChange, ...box }: Props): ReactElement {
  const [text, setText] = useState(q ?? '');
  const lastQuery = useRef(q);
  const change = useRef(onChange);
  change.current = onChange;
  // The URL can also be changed by the Back button, Clear, or the finder.
  useEffect(() => {
    if (q === lastQuery.current) return;
    lastQuery.current = q;
    setText(q ?? '');
  }, [q]);
  useEffect(() => {
    const next = text.trim() || undefined;
    if (next === lastQuery.current || parseSearch(next ?? '').problems.length > 0) return undefined;
    const timer = setTimeout(() => {
      lastQuery.current = next;
      change.current(next);
    }, askMs);
    return () => clearTimeout(timer);
  }, [text]);
  return <SearchBox {...box} value={text} onChange={setText} />;
}
