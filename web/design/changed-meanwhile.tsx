import type { ReactElement } from 'react';
import type { ApiProblem } from '../api/client.ts';
import { Button } from './button.tsx';
import { Message } from './message.tsx';
import { sayMoment } from './time.tsx';

/**
 * Why nothing was changed: somebody else was faster, who is named where that is known, with what they made of it.
 * @param onDiscard for an edit, whose text stays until then.
 */
export function ChangedMeanwhile({
  error: { meanwhile },
  onDiscard,
}: {
  error: ApiProblem;
  onDiscard?: () => void;
}): ReactElement {
  const { thing = 'thing', by = 'Somebody else', at, differences = [] } = meanwhile ?? {};
  return (
    <Message
      tone="bad"
      title={`${by} changed this ${thing}`}
      action={
        onDiscard && (
          <Button size="small" onPress={onDiscard}>
            Discard my edit
          </Button>
        )
      }
    >
      {differences.length > 0 && (
        <ul>
          {differences.map(({ name, before, now }) => (
            <li key={name}>
              {name}: {before} → <strong>{now}</strong>
            </li>
          ))}
        </ul>
      )}
      {at !== undefined && `It was on ${sayMoment(at)}. `}
      {onDiscard
        ? 'It was changed while you edited it, so nothing was saved. Copy what you need, then look at the newer state.'
        : 'Nothing was done yet: decide again.'}
    </Message>
  );
}
