import type { ReactElement } from 'react';
import { ApiProblem, isStale } from '../../../api/client.ts';
import { ChangedMeanwhile } from '../../../design/changed-meanwhile.tsx';
import { Message } from '../../../design/message.tsx';
import { sayCount, wordFor } from '#ast/say-count.ts';

/** Why an edit was not saved. */
export function ChangeProblem({ error, onDiscard }: { error: Error; onDiscard: () => void }): ReactElement {
  if (isStale(error)) return <ChangedMeanwhile error={error} onDiscard={onDiscard} />;
  const count = error instanceof ApiProblem ? error.errors.length : 0;
  if (count === 0)
    return (
      <Message tone="bad" title="Not saved">
        {error.message}
      </Message>
    );
  return (
    <Message tone="bad" title={`There ${wordFor(count, 'is', 'are')} ${sayCount(count, 'problem')}`}>
      {error.message}
    </Message>
  );
}
