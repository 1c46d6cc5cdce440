import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReplyOf } from '#app/operations.ts';
import { unfinishedAt } from '#ast/search.ts';
import type { ComboboxGroup } from '../../design/combobox.tsx';
import type { IconName } from '../../design/icon.tsx';
import { call } from '../../api/operations.ts';

type Suggestion = ReplyOf<'suggestSearch'>['data'][number];
/** Where one searches: a workspace, or one form of it. */
export type SearchPlace = { workspaceId: string; formId?: string };
/** A question as it is being written. */
export type Writing = { text: string; caret: number };

/** A pause in typing after which the server is asked. */
const typingMs = 120;

const icons: Readonly<Record<Suggestion['kind'], IconName>> = {
  operator: 'filter',
  element: 'form',
  word: 'search',
  form: 'form',
  status: 'filter',
  tag: 'filter',
};

/** What may be meant by what is being written, and the question with one of these in its place. */
export function useSuggestions(
  { workspaceId, formId }: SearchPlace,
  writing: Writing,
): { group: ComboboxGroup; complete: (id: string) => Writing | undefined } {
  const rested = useRested(writing);
  const isAsked = unfinishedAt(rested.text, rested.caret) !== undefined && rested.text.length <= 1_024;
  const query = {
    q: rested.text,
    at: rested.caret,
    ...(formId !== undefined && { form_id: formId }),
  };
  const { data: found } = useQuery({
    queryKey: ['suggestions', workspaceId, query],
    queryFn: ({ signal }) => call(workspaceId, 'suggestSearch', { query }, { signal }),
    enabled: isAsked,
    staleTime: 60_000,
  });
  // What was asked for another text means another place.
  const isFresh = isAsked && rested.text === writing.text && rested.caret === writing.caret;
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

/** What is written, once typing rests. */
function useRested(writing: Writing): Writing {
  const { text, caret } = writing;
  const [rested, setRested] = useState(writing);
  useEffect(() => {
    const timer = setTimeout(() => setRested({ text, caret }), typingMs);
    return () => clearTimeout(timer);
  }, [text, caret]);
  return rested;
}
