import type { ReactElement } from 'react';
import { Button } from './button.tsx';
import { Message } from './message.tsx';

/** Why an edit was not saved: what somebody else has changed meanwhile is not overwritten, and one's own text stays. */
export function ChangedMeanwhile({
  thing,
  onDiscard,
}: {
  thing: 'submission' | 'webhook' | 'key';
  onDiscard: () => void;
}): ReactElement {
  return (
    <Message
      tone="bad"
      title={`Somebody else changed this ${thing}`}
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
