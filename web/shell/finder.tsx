import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { createElement, Fragment, type ReactElement, type ReactNode, useId, useRef, useState } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { parseSearch } from '#ast/search.ts';
import { callOperation } from '../api/operations.ts';
import { IconButton } from '../design/button.tsx';
import { Combobox, type ComboboxGroup } from '../design/combobox.tsx';
import { afterFocusReturned } from '../design/dialog.tsx';
import { HighlightedText } from '../design/highlighted-text.tsx';
import type { IconName } from '../design/icon.tsx';
import { AgoText, receivedAt } from '../design/time.tsx';
import { useDebounced } from '../design/use-debounced.ts';
import type { FinderActions } from './finder-actions.ts';
import { formScreens, type ScreenLink, workspaceScreens } from './screen-links.ts';
import { HighlightedSearch, SearchHelp, useSuggestions } from './search/search-box.tsx';
import {
  describeSearchNotes,
  type FoundSubmission,
  firstHit,
  type SearchResults,
  senderOf,
  submissionLink,
  toServerSearch,
} from './search/search-results.ts';
import { mayAdminister, useCurrentWorkspace } from './session.ts';

/** A destination that the finder can open. */
type Goal = {
  id: string;
  label: ReactNode;
  description?: ReactNode;
  icon: IconName;
  to: string;
  search?: Record<string, unknown>;
};
type GoalGroup = { id: string; title: string; goals: Goal[] };

/** The pause in typing before the server is queried, in milliseconds. */
const typingMs = 200;
const formsShown = 5;
const submissionsShown = 8;
/** The number of characters shown of a match and its context. */
const hitCharacters = 80;

type Workspace = ReturnType<typeof useCurrentWorkspace>;

/**
 * Finds screens and forms by name, and submissions by their text. Without a text, it returns screens and the
 * latest forms.
 */
function useGoals(
  workspace: Workspace,
  formId: string | undefined,
  typed: string,
): { groups: GoalGroup[]; isPending: boolean; note: string; error: Error | null } {
  const written = typed.trim();
  const text = useDebounced(written, typingMs);
  const workspaceId = workspace?.id ?? '';
  const { parts, problems } = parseSearch(text);
  const forms = useQuery({
    queryKey: ['finder', 'forms', workspaceId, text],
    queryFn: ({ signal }) =>
      callOperation(
        workspaceId,
        'listFormActivity',
        { query: { ...(text !== '' && { q: text }), per_page: formsShown } },
        { signal },
      ),
    enabled: workspace !== undefined,
    placeholderData: keepPreviousData,
  });
  const submissions = useQuery({
    queryKey: ['finder', 'submissions', workspaceId, text],
    queryFn: ({ signal }) => {
      const query = {
        q: toServerSearch(text),
        include: 'hits',
        typos: true,
        per_page: submissionsShown,
      } as const;
      return callOperation(workspaceId, 'searchSubmissions', { query }, { signal });
    },
    enabled: workspace !== undefined && parts.length > 0 && problems.length === 0,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const found = parts.length > 0 ? submissions.data : undefined;
  const places = workspace ? findScreens(written, workspace, formId) : [];
  const called: GoalGroup = {
    id: 'forms',
    title: text === '' ? 'Recent forms' : 'Forms',
    goals: (forms.data?.data ?? []).map(({ id, name }) => ({
      id: `form ${id}`,
      label: name,
      icon: 'form',
      to: `/forms/${id}`,
    })),
  };
  const answered: GoalGroup = {
    id: 'submissions',
    title: 'Submissions',
    goals: (found?.data ?? []).map((submission) => goalOf(submission, text)),
  };
  const total = found?.pagination.total_count ?? 0;
  if (total > submissionsShown)
    answered.goals.push({
      id: 'all submissions',
      label: `Show all ${total.toLocaleString()} matching submissions`,
      icon: 'search',
      to: `/w/${workspaceId}/submissions`,
      search: { q: text },
    });
  // Without a text, most people want a form.
  const groups = written === '' ? [called, ...places] : [...places, called, answered];
  const isPending = written !== text || forms.isFetching || submissions.isFetching;
  const note = isPending ? '' : describeResults(text, found, groups);
  return { groups, isPending, note, error: forms.error ?? submissions.error };
}

/** Returns screens whose name contains the text, or all settings for a text such as "settings". */
function findScreens(
  text: string,
  workspace: NonNullable<Workspace>,
  formId: string | undefined,
): GoalGroup[] {
  const query = text.toLowerCase();
  const goalsOf = (title: string, base: string, places: readonly ScreenLink[]): Goal[] =>
    places
      .filter(({ label }) => [label, title].some((name) => name.toLowerCase().includes(query)))
      .map(({ path, label, icon }) => ({ id: `${base}${path}`, label, icon, to: base + path }));
  const screens = workspaceScreens.filter(
    ({ isAdministration }) => !isAdministration || mayAdminister(workspace.role),
  );
  const base = `/w/${workspace.id}`;
  const [settings, others] = [
    screens.filter(({ isSetting }) => isSetting),
    screens.filter(({ isSetting }) => !isSetting),
  ];
  const account: ScreenLink = { path: '/account', label: 'Your account', icon: 'people' };
  return [
    {
      id: 'own',
      title: 'This form',
      goals: formId === undefined ? [] : goalsOf('This form', `/forms/${formId}`, formScreens),
    },
    {
      id: 'screens',
      title: 'Go to',
      goals: [...goalsOf('Go to', base, others), ...goalsOf('Go to', '', [account])],
    },
    { id: 'settings', title: 'Settings', goals: goalsOf('Settings', base, settings) },
  ];
}

function goalOf(submission: FoundSubmission, q: string): Goal {
  const hit = firstHit(submission);
  const who = senderOf(submission);
  const { id, metadata } = submission;
  return {
    id: `submission ${id}`,
    label: createElement(HighlightedText, {
      text: hit?.text ?? who ?? 'Submission',
      hits: hit?.words ?? [],
      limit: hitCharacters,
    }),
    // On a phone the end is cut off, so the time comes before the form name.
    description: createElement(
      Fragment,
      null,
      hit && who !== undefined && who !== hit.text ? `${who} · ` : '',
      createElement(AgoText, { at: receivedAt(submission) }),
      [metadata.form_name, hit?.place].map((where) => where && ` · ${where}`).join(''),
    ),
    icon: 'table',
    ...submissionLink(submission, q),
  };
}

function describeResults(
  text: string,
  found: SearchResults | undefined,
  groups: readonly GoalGroup[],
): string {
  if (text === '') return '';
  const notes = found ? describeSearchNotes(found) : [];
  const isNothing = groups.every(({ goals }) => goals.length === 0);
  return [...notes, ...(isNothing ? ['No matching forms, screens or submissions.'] : [])].join(' ');
}

/**
 * Opens any form or screen of a workspace by name, and finds submissions by a search (docs/guides/search.md).
 */
export function Finder({
  offered,
  onClose,
}: {
  offered: FinderActions | undefined;
  onClose: () => void;
}): ReactElement {
  const noteId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [writing, setWriting] = useState({ text: '', caret: 0 });
  const workspace = useCurrentWorkspace();
  const { form } = useParams({ strict: false });
  const navigate = useNavigate();
  const { groups, isPending, note, error } = useGoals(workspace, form, writing.text);
  const { group: suggested, complete } = useSuggestions({ workspaceId: workspace?.id ?? '' }, writing);
  const [problem] = parseSearch(writing.text).problems;

  const write = (text: string, caret: number): void => setWriting({ text, caret });
  const choose = (id: string): void => {
    const completed = complete(id);
    if (completed) {
      setWriting(completed);
      requestAnimationFrame(() => input.current?.setSelectionRange(completed.caret, completed.caret));
      return;
    }
    const offer = offers.find((each) => each.id === id);
    if (offer) {
      onClose();
      afterFocusReturned(offer.run);
      return;
    }
    const goal = groups.flatMap(({ goals }) => goals).find((each) => each.id === id);
    if (!goal) return;
    onClose();
    void navigate({ to: goal.to, ...(goal.search && { search: goal.search }) });
  };
  const query = writing.text.trim().toLowerCase();
  const offers =
    query === '' ? [] : (offered?.offers ?? []).filter(({ label }) => label.toLowerCase().includes(query));
  const shown: ComboboxGroup[] = [
    { id: 'offers', title: offered?.title ?? '', options: offers },
    ...groups.map(({ goals, ...group }) => ({ ...group, options: goals.map(optionOf) })),
    { ...suggested, title: 'Refine your search' },
  ];
  return (
    <ModalOverlay
      className="finder-veil"
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      isDismissable
    >
      <Modal className="finder">
        <Dialog className="finder-frame" aria-label="Search">
          <Combobox
            label="Search forms, submissions and settings"
            placeholder="Forms, submissions, settings…"
            value={writing.text}
            inputRef={input}
            onChange={write}
            groups={shown}
            onChoose={choose}
            isInline
            isPending={isPending}
            autoFocus
            behind={<HighlightedSearch text={writing.text} />}
            end={
              <>
                <SearchHelp />
                <IconButton icon="close" label="Close" size="small" onPress={onClose} />
              </>
            }
            problemId={problem && noteId}
          />
          <p id={noteId} role="status" className={`finder-note${problem || error ? ' finder-problem' : ''}`}>
            {problem?.message ?? error?.message ?? (offers.length > 0 ? '' : note)}
          </p>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

const optionOf = ({ id, label, description, icon }: Goal) => ({
  id,
  label,
  icon,
  ...(description !== undefined && { description }),
});
