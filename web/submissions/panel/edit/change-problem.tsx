import type { ReactElement } from 'react';
import { ApiProblem } from '../../../api/client.ts';
import { Button } from '../../../design/button.tsx';
import { Message } from '../../../design/message.tsx';
import { isStale } from './use-change.ts';

/** Why an edit was not saved. What somebody else has changed meanwhile is not overwritten; one's own text stays. */
export function ChangeProblem({ error, onDiscard }: { error: Error; onDiscard: () => void }): ReactElement {
  if (isStale(error)) {
    return (
      <Message
        tone="bad"
        title="Somebody else changed this submission"
        action={
          <Button size="small" onPress={onDiscard}>
            Discard my edit
          </Button>
        }
      >
        It was changed while you edited it, so nothing was saved. Copy what you need, then look at the newer
        state.
      </Message>
    );
  }
  const count = error instanceof ApiProblem ? error.errors.length : 0;
  if (count === 0)
    return (
      <Message tone="bad" title="Not saved">
        {error.message}
      </Message>
    );
  return (
    <Message tone="bad" title={count === 1 ? 'There is a problem' : `There are ${count} problems`}>
      {error.message}
    </Message>
  );
}
