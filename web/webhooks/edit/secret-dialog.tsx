import type { ReactElement } from 'react';
import { CopyField } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { ReceiverCode } from '../workbench/receiver-code.tsx';

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
