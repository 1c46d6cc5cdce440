import type { ReactElement } from 'react';
import type { Webhook } from '#console/webhooks/shapes.ts';
import { RadioGroup } from '../design/checkbox.tsx';
import { TextField } from '../design/field.tsx';
import { Message } from '../design/message.tsx';
import { type SecretChoice, secretChoices } from './secret-choice.ts';

type Props = {
  webhook: Webhook | undefined;
  /** Whether the plan allows secrets; if not, the reason stands here before one tries. */
  isAllowed: boolean;
  choice: SecretChoice;
  entered: string;
  onChange: (change: { choice?: SecretChoice; entered?: string }) => void;
  error: string | undefined;
};

/** Whether deliveries are signed, and with what. */
export function SecretField({ webhook, isAllowed, choice, entered, onChange, error }: Props): ReactElement {
  return (
    <div className="stack-tight">
      <RadioGroup
        label="Secret"
        description="With a secret, each delivery carries a signature by which your receiver knows that it is from here."
        choices={secretChoices(webhook, isAllowed)}
        value={choice}
        onChange={(chosen) => onChange({ choice: chosen })}
        error={choice === 'enter' ? undefined : error}
      />
      {!isAllowed && (
        <Message tone="info" title="Signing needs the Pro, Business or Enterprise plan">
          This workspace is on the Free plan. Everything else about webhooks works in the same way.
        </Message>
      )}
      {choice === 'enter' && (
        <TextField
          label="Your secret"
          value={entered}
          onChange={(text) => onChange({ entered: text })}
          error={error}
          autoComplete="off"
          autoFocus
          spellCheck="false"
        />
      )}
    </div>
  );
}
