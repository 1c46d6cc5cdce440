import '../panel/panel.css';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { sayMoment } from '../../design/time.tsx';
import { AnswersView } from '../panel/answers-view.tsx';
import { ReferenceView } from '../panel/reference-view.tsx';
import { columnsQuery, type FormPlace } from '../queries.ts';
import { firstAnswers } from '../selection/selectable-cell.tsx';
import { reasons } from './reasons.ts';
import { SpamActions } from './spam-actions.tsx';
import { heldQuery } from './spam-query.ts';

type Props = { form: FormPlace; id: string; mayDecide: boolean; onClose: () => void };

/** One of the spam box: why it is there, and what it says. */
export function HeldDialog({ form, id, mayDecide, onClose }: Props): ReactElement {
  const { data, error, refetch } = useQuery(heldQuery(form, id));
  const columns = useQuery(columnsQuery(form));
  return (
    <Dialog
      title={
        data ? (firstAnswers(data.answers, columns.data)[0] ?? sayMoment(data.created_at)) : 'Held submission'
      }
      isOpen
      onClose={onClose}
      size="side"
      actions={data && mayDecide && <SpamActions form={form} ids={[id]} onDone={onClose} />}
    >
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={5} label="Loading …" />
      ) : (
        <>
          <Message tone="warn">
            {reasons[data.reason][1]} {data.origin !== null && `The site: ${data.origin}.`}{' '}
            {sayOthers(data.others)}
          </Message>
          <AnswersView submission={{ ...data, hits: [] }} />
          <ReferenceView submission={{ ...data, hits: [] }} />
        </>
      )}
    </Dialog>
  );
}

function sayOthers(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? 'One other here came from the same address.'
    : `${count.toLocaleString()} others here came from the same address.`;
}
