import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactElement, useId, useRef, useState } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { readQuestion } from '#ast/search/read-question.ts';
import { IconButton } from '../../design/button.tsx';
import { Combobox, type ComboboxGroup } from '../../design/combobox.tsx';
import { ColouredQuestion } from '../search/coloured-question.tsx';
import { QuestionHelp } from '../search/question-help.tsx';
import { useSuggestions } from '../search/use-suggestions.ts';
import { useCurrentWorkspace } from '../session.ts';
import type { Offered } from './offers.ts';
import { type Goal, useGoals } from './use-goals.ts';

/**
 * A box that leads anywhere in a workspace: to its forms and screens by their names, to submissions by all that a search may
 * say (docs/guides/search.md).
 */
export function Finder({
  offered,
  onClose,
}: {
  /** What can be done on the screen behind it. */
  offered: Offered | undefined;
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
  const [problem] = readQuestion(writing.text).problems;

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
      // The focus goes back to where it was first.
      requestAnimationFrame(() => requestAnimationFrame(offer.run));
      return;
    }
    const goal = groups.flatMap(({ goals }) => goals).find((each) => each.id === id);
    if (!goal) return;
    onClose();
    void navigate({ to: goal.to, ...(goal.search && { search: goal.search }) });
  };
  const asked = writing.text.trim().toLowerCase();
  const offers =
    asked === '' ? [] : (offered?.offers ?? []).filter(({ label }) => label.toLowerCase().includes(asked));
  const shown: ComboboxGroup[] = [
    { id: 'offers', title: offered?.title ?? '', options: offers },
    ...groups.map(({ goals, ...group }) => ({ ...group, options: goals.map(optionOf) })),
    { ...suggested, title: 'Say it more exactly' },
  ];
  return (
    <ModalOverlay
      className="finder-veil"
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      isDismissable
    >
      <Modal className="finder">
        <Dialog className="finder-frame" aria-label="Find">
          <Combobox
            label="Find forms, submissions and settings"
            placeholder="Forms, submissions, settings …"
            value={writing.text}
            inputRef={input}
            onChange={write}
            groups={shown}
            onChoose={choose}
            isInline
            isPending={isPending}
            autoFocus
            behind={<ColouredQuestion text={writing.text} />}
            end={
              <>
                <QuestionHelp />
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
