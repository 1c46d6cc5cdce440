import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { ConfirmChange } from '../../design/dialog.tsx';
import { Select } from '../../design/select.tsx';
import type { Erasure, Question } from './people-query.ts';

const choices: readonly { id: Erasure['what']; label: string; description: string }[] = [
  {
    id: 'submissions',
    label: 'Everything',
    description: 'Submissions go as a whole, with all that came of them.',
  },
  {
    id: 'identity',
    label: 'Who it was',
    description: 'Submissions stay, without the answers that tell who somebody is.',
  },
];

/** Asks what is erased and whether it is meant, by what the person was found by. */
export function EraseDialog({
  workspace,
  question,
  except,
  count,
  isOpen,
  onClose,
  onBegun,
}: {
  workspace: string;
  question: Question;
  except: readonly string[];
  count: number;
  isOpen: boolean;
  onClose: () => void;
  onBegun: (id: string) => void;
}): ReactElement {
  const [what, setWhat] = useState<Erasure['what']>('submissions');
  const erase = useMutation({
    mutationFn: () =>
      call(workspace, 'erasePerson', { body: { ...question, what, except: [...except], expected: count } }),
    async onSuccess({ id }) {
      onBegun(id);
      await queryClient.invalidateQueries({ queryKey: ['erasures', workspace] });
    },
  });
  return (
    <ConfirmChange
      title={count === 1 ? 'Erase this one thing?' : `Erase these ${count.toLocaleString()} things?`}
      isOpen={isOpen}
      onClose={onClose}
      confirmLabel="Erase for good"
      change={erase}
      typed={question.q}
    >
      <div className="stack">
        <Select label="What goes" value={what} choices={choices} onChange={setWhat} />
        <p>
          Files, history, notes, events, deliveries, mails and invitations go too, and no trash keeps them.
          Webhooks are told, without any answer of this person. Export first if somebody asked for a copy.
        </p>
      </div>
    </ConfirmChange>
  );
}
