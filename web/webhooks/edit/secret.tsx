import type { ReactElement } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { Checkbox, RadioGroup } from '../../design/checkbox.tsx';
import { CopyField } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Message } from '../../design/message.tsx';
import { ReceiverCode } from '../receiver-tools.tsx';
import type { WebhookOwner } from '../webhooks-query.ts';
import { type SecretChoice, secretChoices } from './header-draft.ts';

type Props = {
  webhook: Webhook | undefined;
  /** Whether the plan allows secrets. If not, the reason is shown before the person tries. */
  isAllowed: boolean;
  choice: SecretChoice;
  entered: string;
  /** Whether deliveries are also signed with the old secret for 24 hours. */
  overlap: boolean;
  onChange: (change: { choice?: SecretChoice; entered?: string; overlap?: boolean }) => void;
  error: string | undefined;
};

/** Lets the person choose whether deliveries are signed, and with which secret. */
export function SecretField(props: Props): ReactElement {
  const { webhook, isAllowed, choice, entered, overlap, onChange, error } = props;
  const isRotated = webhook?.has_secret && (choice === 'generate' || choice === 'enter');
  return (
    <div className="stack-tight">
      <RadioGroup
        label="Secret"
        description="Signed deliveries let your receiver verify that they come from this service."
        choices={secretChoices(webhook, isAllowed)}
        value={choice}
        onChange={(chosen) => onChange({ choice: chosen })}
        error={choice === 'enter' ? undefined : error}
      />
      {!isAllowed && (
        <Message tone="info" title="Signing requires the Pro, Business or Enterprise plan">
          This workspace is on the Free plan. All other webhook features work the same way.
        </Message>
      )}
      {choice === 'enter' && (
        <TextField
          label="Your secret"
          value={entered}
          onChange={(text) => onChange({ entered: text })}
          error={error}
          autoFocus
          spellCheck="false"
        />
      )}
      {isRotated && (
        <Checkbox
          isSelected={overlap}
          onChange={(isOn) => onChange({ overlap: isOn })}
          description="The webhook-signature header contains both signatures; X-Service-Signature-Previous contains only the old one. Turn this off if the old secret has leaked."
        >
          Also sign with the old secret for 24 hours
        </Checkbox>
      )}
    </div>
  );
}

/** Shows a new secret, and code for a receiver that uses it. The secret is shown only once. */
export function SecretDialog({
  form,
  webhook,
  secret,
  isOpen,
  onClose,
}: {
  form: WebhookOwner;
  webhook: string;
  secret: string;
  isOpen: boolean;
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title="Your webhook secret"
      size="medium"
      isOpen={isOpen}
      onClose={onClose}
      isDismissable={false}
      done="I have saved it"
    >
      <Message tone="warn">Copy it to your receiver now. It will not be shown again.</Message>
      <div className="secret-fields">
        <CopyField label="Secret" text={secret} />
      </div>
      <ReceiverCode form={form} webhook={webhook} />
    </Dialog>
  );
}

/** Shows the code for a receiver again later, without the secret. */
export function VerifyDialog({
  form,
  webhook,
  isOpen,
  onClose,
}: {
  form: WebhookOwner;
  webhook: string;
  isOpen: boolean;
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title="Verify deliveries"
      description="The receiver computes the signature of the raw body with the webhook’s secret, and rejects deliveries that do not match."
      size="medium"
      isOpen={isOpen}
      onClose={onClose}
      done="Done"
    >
      <ReceiverCode form={form} webhook={webhook} />
    </Dialog>
  );
}
