import type { ReactElement } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { Checkbox, RadioGroup } from '../../design/checkbox.tsx';
import { CopyField } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Message } from '../../design/message.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { ReceiverCode } from '../workbench.tsx';
import { type SecretChoice, secretChoices } from './header-draft.ts';

type Props = {
  webhook: Webhook | undefined;
  /** Whether the plan allows secrets; if not, the reason stands here before one tries. */
  isAllowed: boolean;
  choice: SecretChoice;
  entered: string;
  /** Whether the secret of before goes on signing for a day. */
  overlap: boolean;
  onChange: (change: { choice?: SecretChoice; entered?: string; overlap?: boolean }) => void;
  error: string | undefined;
};

/** Whether deliveries are signed, and with what. */
export function SecretField(props: Props): ReactElement {
  const { webhook, isAllowed, choice, entered, overlap, onChange, error } = props;
  const isRotated = webhook?.has_secret && (choice === 'generate' || choice === 'enter');
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
      {isRotated && (
        <Checkbox
          isSelected={overlap}
          onChange={(isOn) => onChange({ overlap: isOn })}
          description="webhook-signature carries both signatures, and X-Service-Signature-Previous that of the old secret. Switch it off when the old secret became known to somebody."
        >
          Sign with the old secret too, for 24 hours
        </Checkbox>
      )}
    </div>
  );
}

/** Shows a secret for the one time that it can be shown, and what a receiver does with it. */
export function SecretDialog({
  form,
  webhook,
  secret,
  isOpen,
  onClose,
}: {
  form: LocatedForm;
  /** Its id. */
  webhook: string;
  secret: string;
  isOpen: boolean;
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title="The secret of your webhook"
      size="medium"
      isOpen={isOpen}
      onClose={onClose}
      isDismissable={false}
      done="I have stored it"
    >
      <Message tone="warn">Give it to your receiver now. It is not shown again.</Message>
      <div className="secret-fields">
        <CopyField label="Secret" text={secret} />
      </div>
      <ReceiverCode form={form} webhook={webhook} />
    </Dialog>
  );
}

/** The same help without the secret, for later. */
export function VerifyDialog({
  form,
  webhook,
  isOpen,
  onClose,
}: {
  form: LocatedForm;
  webhook: string;
  isOpen: boolean;
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title="Verify deliveries"
      description="A receiver recomputes the signature over the raw body with the webhook’s secret, and refuses what does not match."
      size="medium"
      isOpen={isOpen}
      onClose={onClose}
      done="Done"
    >
      <ReceiverCode form={form} webhook={webhook} />
    </Dialog>
  );
}
